"""No kernel reads or writes out of bounds, in the smallest trees and with the most legal moves.

NumPy checks every index of interpreted code; NUMBA_BOUNDSCHECK=1 checks those of compiled code.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
WIDE = str(TESTS / "wide.py")
INTERPRETED = {"NUMBA_DISABLE_JIT": "1"}


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment that compiles bounds checks, with its own cache."""
    folder = tmp_path_factory.mktemp("checked")
    return {"NUMBA_BOUNDSCHECK": "1", "XDG_CACHE_HOME": str(folder)}


def run(*arguments: str, **extra: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "ignore", str(TESTS / "checked_bounds.py"), *arguments]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)} | extra
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", ["tictactoe", "connect4", "chess", WIDE])
def test_interpreted_kernels_stay_within_bounds(name: str) -> None:
    done = run(name, **INTERPRETED)
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.slow
def test_compiled_kernels_stay_within_bounds(checked: dict[str, str]) -> None:
    done = run(WIDE, **checked)
    assert done.returncode == 0, done.stderr[-2000:]


def test_an_overflow_is_detected(checked: dict[str, str]) -> None:
    for mode in (INTERPRETED, checked):
        done = run(WIDE, "overflow", **mode)
        assert done.returncode == 1 and "IndexError" in done.stderr.splitlines()[-1]
