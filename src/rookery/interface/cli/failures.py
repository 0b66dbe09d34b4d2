"""Which errors are told in one line; every other one is a bug and keeps its traceback."""

import errno

import typer

USAGE = 2
"""Exit code of a mistake that the user can mend."""

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
NO_WAY = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.ENAMETOOLONG, errno.EISDIR)


def explain(error: Exception) -> str | None:
    """The one line that tells the user about `error`, or None if it is not the user's."""
    from rookery.base import RookeryError

    if isinstance(error, RookeryError):
        return one_line(str(error))
    if isinstance(error, typer.TyperException):
        return one_line(f"{error.format_message().rstrip('.?')}; see rookery --help")
    if isinstance(error, OSError):
        return _explain_system(error)
    if isinstance(error, MemoryError):
        return "memory is full; take fewer games, simulations or plies"
    if type(error).__name__ == "OutOfMemoryError":  # torch's, which may not be imported here
        return "the GPU's memory is full; take fewer games or simulations, or say --devices cpu"
    return None


def one_line(text: str) -> str:
    """`text` without its line ends."""
    return " | ".join(line.rstrip() for line in text.splitlines() if line.strip())


def _explain_system(error: OSError) -> str | None:
    place = f" {error.filename}" if error.filename else ""
    if error.errno in NO_ROOM:
        return f"no room left to write{place} ({error.strerror}); free some space and resume"
    if error.errno in NO_WAY:
        return f"cannot use{place}: {error.strerror}; choose another place or mend its permissions"
    return None
