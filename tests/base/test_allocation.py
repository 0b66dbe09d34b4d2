"""Freed memory is kept: large arrays do not get new pages from the system again and again."""

import ctypes
import subprocess
import sys

import pytest

COUNT = """
import resource, numpy as np
from rookery.base import keep_freed_memory

def use_six_arrays():
    arrays = [np.ones(3 << 20, np.uint8) for _ in range(6)]

keep_freed_memory()
use_six_arrays()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    use_six_arrays()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""
HAS_GLIBC = sys.platform == "linux" and hasattr(ctypes.CDLL(None), "mallopt")


def page_faults(script: str) -> int:
    return int(subprocess.check_output([sys.executable, "-c", script]))


@pytest.mark.skipif(not HAS_GLIBC, reason="needs glibc")
def test_pages_are_used_again() -> None:
    otherwise = page_faults(COUNT.replace("\nkeep_freed_memory()\n", "\n"))
    assert page_faults(COUNT) < otherwise / 10
