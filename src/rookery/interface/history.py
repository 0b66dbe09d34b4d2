"""What a run has done so far, read from the statistics in its folder."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rookery.training import Stats


@dataclass(frozen=True)
class Headline:
    """The last measurement of strength."""

    errors: float
    label: str
    simulations: int
    iteration: int


@dataclass(frozen=True)
class History:
    """A run's past, all stretches added."""

    iteration: int = 0
    seconds: float = 0.0
    games: int = 0
    positions: int = 0
    strength: Headline | None = None
    is_finished: bool = False
    """Whether nothing was done after the run reached its end."""


def read_history(folder: Path) -> History:
    """The history of the run in `folder`."""
    lines = list(Stats(folder).lines())
    turns = [line for line in lines if line["kind"] == "iteration"]
    measured = [line for line in lines if line["kind"] == "strength"]
    return History(
        iteration=max((line["iteration"] for line in lines), default=0),
        seconds=max((line.get("seconds", 0.0) for line in lines), default=0.0),
        games=sum(line["selfplay"]["games"] for line in turns),
        positions=sum(line["selfplay"]["positions"] for line in turns),
        strength=_headline(measured[-1]) if measured else None,
        is_finished=bool(lines) and lines[-1]["kind"] == "finished",
    )


def _headline(line: dict[str, Any]) -> Headline:
    strength = line["strength"]
    return Headline(
        errors=strength["errors"],
        label=strength["label"],
        simulations=line["simulations"],
        iteration=line["iteration"],
    )
