"""A sample of `make soak`: a dozen random faults against one run."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SOAK = Path(__file__).parents[2] / "tools" / "soak.py"
FAULTS = 12


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and Linux signals")
def test_a_run_survives_random_faults(environment: dict[str, str], tmp_path: Path) -> None:
    report = tmp_path / "soak.json"
    options = ["--faults", FAULTS, "--every", 2, "--partitions", 0, "--json", report]
    command = [sys.executable, SOAK, "--folder", tmp_path / "soak", *options]
    done = subprocess.run(
        list(map(str, command)), env=environment, capture_output=True, text=True, timeout=1800
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(report.read_text())
    assert sum(found["faults"].values()) == FAULTS
    assert len(found["checks"]) >= 7 and all(check["is_ok"] for check in found["checks"])
