"""Types of the fixtures `rookery` and `mistake`, which call the command line in this process."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Answer:
    """What a command did."""

    code: int
    out: str
    err: str


Rookery = Callable[..., Answer]
"""Calls a command with its arguments, and with `typed` as what a person types."""
Mistake = Callable[..., str]
"""Calls a command that must fail; returns its error message."""
