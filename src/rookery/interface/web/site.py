"""The settings of a server."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Site:
    """What a server offers, and to whom."""

    folders: Sequence[Path] = ()
    """Runs, and folders of runs."""
    rules: Sequence[Path] = ()
    """Rules files of own games."""
    engines: Sequence[str] = ()
    """Further engines, named as `rookery match` names them."""
    host: str = "127.0.0.1"
    """The address that the server listens on."""
    token: str = ""
    """What clients must know; empty if nothing."""
    devices: str = "cpu"
    trust_rules: bool = False
    """Whether rules files of runs may be executed that this user has not trusted yet."""
