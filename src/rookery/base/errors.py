"""Everything Rookery raises on purpose, in one tree.

RookeryError                 a user's mistake or a broken surrounding: one line, exit code 2
  ConfigError (ValueError)   a setting that does not exist or is out of range
    UnknownName              a name nobody knows, with the nearest right one
  IllegalPosition (ValueError)  a position or move that the rules do not allow
  RunFolderError             a run folder that exists, is missing or half-written
  FileDamaged                a file that is truncated or altered
  DiskFull                   no room left to write
  DeviceMissing              a device that this machine does not have
"""

from collections.abc import Iterable
from difflib import get_close_matches


class RookeryError(Exception):
    """A mistake the user can mend; the message says what was found, expected, and what to do."""


class ConfigError(RookeryError, ValueError):
    """A setting that does not exist or is out of range."""


class UnknownName(ConfigError):
    """A name nobody knows."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        near = get_close_matches(name, names, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(names)}"
        super().__init__(f"unknown {kind} {name!r}; {hint}")


class IllegalPosition(RookeryError, ValueError):
    """A position or move that the rules do not allow."""


class RunFolderError(RookeryError):
    """A run folder that exists, is missing, half-written or of another kind."""


class FileDamaged(RookeryError):
    """A file that is truncated or altered."""


class DiskFull(RookeryError):
    """No room left to write."""


class DeviceMissing(RookeryError):
    """A device that this machine does not have."""
