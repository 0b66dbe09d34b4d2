"""Rules files that leave a mark when they are executed, and runs of them that others made."""

from pathlib import Path
from typing import TYPE_CHECKING

from random_runs import random_run
from rookery.games import tictactoe

if TYPE_CHECKING:  # the kernels are compiled before pytest is installed
    import pytest

# The same text everywhere, so that its kernels are compiled once.
MARKED = (
    Path(tictactoe.__file__).read_text().replace('NAME = "tictactoe"', 'NAME = "mine"')
    + "\nopen(f'{__file__} executed', 'w').close()\n"
)


def marked_rules(folder: Path) -> tuple[Path, Path]:
    """Tic-Tac-Toe as a rules file of one's own, and the file that appears once it is executed."""
    path, mark = folder / "mine.py", folder / "mine.py executed"
    path.write_text(MARKED)
    return path, mark


def forget_rules(patch: "pytest.MonkeyPatch", state: Path | None = None) -> None:
    """Be another process, and with `state` another user."""
    patch.setattr("rookery.games.registry._own_games", {})
    if state is not None:
        patch.setenv("ROOKERY_STATE", str(state))


def strangers_run(folder: Path, patch: "pytest.MonkeyPatch") -> tuple[Path, Path]:
    """A run of rules that this user has never seen, with their digest, and their mark."""
    rules, mark = marked_rules(folder)
    with patch.context() as theirs:
        forget_rules(theirs, folder / "their state")
        run = random_run(folder / "run", str(rules))
    forget_rules(patch, folder / "state")
    mark.unlink()
    return run, mark
