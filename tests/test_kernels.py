"""Every kernel compiles for a GPU; the simulator would not detect one that does not."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

COMPILERS = Path(sys.prefix) / "cuda"
"""`make dev` installs numba-cuda here, separately: the simulator is part of Numba itself."""
SEARCH_KERNELS = {"begin", "descend", "write_planes", "ascend", "prove_terminal_moves", "decide"}
SELFPLAY_KERNELS = {"find_done", "step", "renew", "collect"}
NEURON_KERNELS = {"fire_biased", "fire_added", "average_added", "fire_bits", "gradient_bits"}
OTHERS = {"write_rows", "transpose_tile"}
KERNELS = SEARCH_KERNELS | SELFPLAY_KERNELS | NEURON_KERNELS | OTHERS


@pytest.mark.skipif(not COMPILERS.exists(), reason="numba-cuda is not installed")
@pytest.mark.parametrize(
    ("name", "dtype"),
    [("chess", "float16"), pytest.param("tictactoe", "float32", marks=pytest.mark.slow)],
)
def test_kernels_compile_for_a_gpu(name: str, dtype: str) -> None:
    libraries = sorted({str(path.parent) for path in COMPILERS.rglob("lib*.so*")})
    environment = os.environ | {"LD_LIBRARY_PATH": os.pathsep.join(libraries)}
    start = f"import site, runpy; site.addsitedir({str(COMPILERS)!r}); runpy.run_path"
    script = Path(__file__).parent / "compile_kernels.py"
    code = f"{start}({str(script)!r}, run_name='__main__')"
    command = [sys.executable, "-W", "ignore", "-c", code, name, dtype]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert set(done.stdout.split()) >= KERNELS
