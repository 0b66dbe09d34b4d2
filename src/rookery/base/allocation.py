"""How the C library keeps memory."""

import ctypes
import sys

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3
_MIB = 2**20


def keep_freed_memory() -> None:
    """Let glibc keep freed blocks of up to 32 MiB in this process, for the next allocations.

    It would return them to the system, and every layer of a network would start with new pages
    that the system has to clear.
    """
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):  # musl has none
        libc.mallopt(_MMAP_THRESHOLD, 32 * _MIB)
        libc.mallopt(_TRIM_THRESHOLD, 512 * _MIB)
        libc.mallopt(_TOP_PAD, 64 * _MIB)
