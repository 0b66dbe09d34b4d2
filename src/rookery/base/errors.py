"""The exceptions that Rookery raises for errors of users and their systems.

RookeryError                    printed as one line; exit code 2
  ConfigError (ValueError)      a setting that does not exist or is out of range
    UnknownName                 an unknown name, with the closest known one
  IllegalPosition (ValueError)  a position or move that the rules do not allow
  RunFolderError                a run folder that exists, is missing, incomplete or in use
  FileDamaged                   a file that is missing, truncated or altered
  DiskFull                      no space left to write a file
  DeviceMissing                 a device that this machine does not have
"""

from collections.abc import Iterable
from difflib import get_close_matches

LONGEST_MESSAGE = 1000


class RookeryError(Exception):
    """An error that the user can fix; the message says what was found, expected, and what to do."""

    def __str__(self) -> str:
        """Return the message, without the middle of a long one."""
        text, half = super().__str__(), LONGEST_MESSAGE // 2
        return text if len(text) <= LONGEST_MESSAGE else f"{text[:half]} ... {text[-half:]}"


class ConfigError(RookeryError, ValueError):
    """A setting that does not exist or is out of range."""


class UnknownName(ConfigError):
    """An unknown name, with the closest known one."""

    def __init__(self, kind: str, name: str, known: Iterable[str], *, advice: str = "") -> None:
        names = sorted(known)
        close = get_close_matches(name, names, n=1, cutoff=0.5)
        hint = f"did you mean {close[0]}?" if close else f"known: {', '.join(names)}"
        end = f"{' ' if close else '. '}{advice}" if advice else ""
        super().__init__(f"unknown {kind} {name!r}; {hint}{end}")


class IllegalPosition(RookeryError, ValueError):
    """A position or move that the rules do not allow."""


class RunFolderError(RookeryError):
    """A run folder that exists, is missing, incomplete or in use."""


class FileDamaged(RookeryError):
    """A file that is missing, truncated or altered."""


class DiskFull(RookeryError):
    """No space left to write a file."""


class DeviceMissing(RookeryError):
    """A device that this machine does not have."""
