"""The kernels for GPUs, run by Numba's simulator in a process of its own: see tests/simulator."""

import os
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent / "simulator"


def test_the_kernels_under_the_simulator() -> None:
    environment = os.environ | {"NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1"}
    # Random streams wrap around, which NumPy mentions when they run interpreted.
    options = ["-q", "-p", "no:cacheprovider", "-W", "ignore:overflow encountered"]
    command = [sys.executable, "-m", "pytest", *options, str(FOLDER)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout
