"""The processor cores that this process may use."""

import os


def available_cores() -> int:
    """Return their number: fewer than the machine has under taskset, Slurm or a container."""
    if hasattr(os, "sched_getaffinity"):  # not on macOS and Windows
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
