"""Errors that end in one line; any other is a bug and keeps its traceback."""

import errno

import typer

from rookery.interface.printable import one_line

USAGE = 2
"""Exit code of an error that the user can fix."""

DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def explain(error: Exception) -> str | None:
    """Return one line about `error` for the user, or None for a bug."""
    from rookery.base import RookeryError

    if isinstance(error, RookeryError):
        return one_line(str(error))
    if isinstance(error, typer.TyperException):
        return one_line(f"{error.format_message().rstrip('.?')}; see rookery --help")
    if isinstance(error, OSError):
        return _explain_system(error)
    if isinstance(error, UnicodeEncodeError):  # a path with bytes that are not UTF-8
        return one_line(f"{error.object} is not a name in UTF-8; rename it")
    if isinstance(error, MemoryError):
        return "out of memory; use fewer games, simulations or plies"
    if type(error).__name__ == "OutOfMemoryError":  # torch's, which may not be imported here
        return "out of GPU memory; use fewer games or simulations, or --devices cpu"
    return None


def _explain_system(error: OSError) -> str | None:
    path = f" {error.filename}" if error.filename else ""
    if error.errno in DISK_FULL:
        message = f"no room left to write{path} ({error.strerror}); free some space and try again"
    elif path:
        message = (
            f"cannot use{path}: {error.strerror}; choose another path or change its permissions"
        )
    elif error.errno:
        message = f"the system reports: {error.strerror}; check the files and devices in use"
    else:
        return None
    return one_line(message)
