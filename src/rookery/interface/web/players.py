"""The opponents and analysts that the page offers for a game.

A client names a player by an id of this list; `run:NAME@20` is its network of iteration 20. Names
of engines and paths of runs stay on the server.
"""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rookery.base import RookeryError, UnknownName, numbered_files
from rookery.games import Game, plain_name
from rookery.interface.web.catalogue import Catalogue
from rookery.interface.web.live_run import LiveRun
from rookery.training import shipped_names

MINIMAX_DEPTHS = (1, 2, 3, 4)
SOLVER_STONES = 14
"""Stones on a Connect Four board from which on the solver answers within seconds, not minutes."""
SOLVER_LABELS = {
    "connect4": f"Solver (perfect after {SOLVER_STONES} moves, before that the network)",
    "tictactoe": "Solver (perfect play)",
}
ENGINES = {
    "stockfish": ("stockfish", ("stockfish:1350", "stockfish:1800", "stockfish:2400")),
    "fairy": ("fairy-stockfish", ("fairy:-10", "fairy:0", "fairy:10")),
}
ENGINE_FOLDERS = "/usr/games:/usr/local/games"
MAX_ITERATIONS = 1000
"""Iterations listed per run, evenly spread; others can be asked for by number."""


@dataclass(frozen=True)
class Choice:
    """A player by its id; `name` is what the Python API calls it."""

    id: str
    label: str
    kind: str
    """net, random, minimax, solver or engine."""
    name: str
    iterations: tuple[int, ...] = ()
    iteration: int | None = None
    """The iteration of a run's network that plays; None: the newest."""

    def to_plain(self) -> dict[str, object]:
        """Return what the page needs to know."""
        plain: dict[str, object] = {"id": self.id, "label": self.label, "kind": self.kind}
        if self.iterations:
            step = -(-len(self.iterations) // MAX_ITERATIONS)
            plain["iterations"] = list(self.iterations[::-1][::step])
        return plain


class Players:
    """The choices for each game."""

    def __init__(self, catalogue: Catalogue, engines: Sequence[str] = ()) -> None:
        """`engines` are further players, named as `rookery match` names them, for chess."""
        self._catalogue, self._engines = catalogue, [*_installed_engines(), *engines]

    def choices(self, key: str) -> list[Choice]:
        """Return the players of a game, networks first, or raise UnknownName."""
        game = self._catalogue.game(key)
        bundled, *others = self._constant(game)
        if bundled.kind != "net":
            return [*self._runs(key), bundled, *others]
        return [bundled, *self._runs(key), *others]

    def _constant(self, game: Game) -> list[Choice]:
        """Return the players that need no run."""
        found = []
        if game.name in shipped_names() and not game.digest:
            found.append(Choice("bundled", "Bundled network", "net", game.name))
        if game.name in SOLVER_LABELS and not game.digest:
            found.append(Choice("solver", SOLVER_LABELS[game.name], "solver", "solver"))
        for depth in MINIMAX_DEPTHS:
            plies = f"{depth} {'ply' if depth == 1 else 'plies'}"
            name = f"minimax:{depth}"
            found.append(Choice(name, f"Minimax, {plies}", "minimax", name))
        if plain_name(game.name) == "chess":
            for number, name in enumerate(self._engines, 1):
                found.append(Choice(f"engine-{number}", _engine_label(name), "engine", name))
        return [*found, Choice("random", "Random moves", "random", "random")]

    def choice(self, key: str, wanted: str) -> Choice:
        """Return the player of this id, or raise ConfigError."""
        plain, at, number = wanted.partition("@")
        if plain.startswith("run:"):
            run = self._catalogue.shelf.run(plain.removeprefix("run:"))
            choices = [each for each in [self._run_choice(run, key)] if each is not None]
        else:
            choices = self._constant(self._catalogue.game(key))
        found = next((each for each in choices if each.id == plain), None)
        if found is None:
            raise UnknownName("player", wanted, [each.id for each in choices])
        if not at:
            return found
        iteration = next((each for each in found.iterations if str(each) == number), None)
        if iteration is None:
            raise UnknownName("iteration", wanted, [f"{plain}@{n}" for n in found.iterations[-3:]])
        label = f"{found.label}, iteration {iteration}"
        return replace(found, id=wanted, label=label, iteration=iteration)

    def _runs(self, key: str) -> list[Choice]:
        found = (self._run_choice(run, key) for run in self._catalogue.shelf.runs())
        return [each for each in found if each is not None]

    def _run_choice(self, run: LiveRun, key: str) -> Choice | None:
        """Return the player of a run, or None if it has no network of this game."""
        iterations = _iterations(run.path)
        if not iterations or self._catalogue.game_of_run(run.path) != key:
            return None
        return Choice(f"run:{run.name}", run.path.name, "net", str(run.path), iterations)


def _iterations(path: Path) -> tuple[int, ...]:
    try:
        return tuple(sorted(numbered_files(path / "weights")))
    except (OSError, RookeryError):
        return ()


def _installed_engines() -> list[str]:
    return [
        name
        for program, names in ENGINES.values()
        if shutil.which(program) or shutil.which(program, path=ENGINE_FOLDERS)
        for name in names
    ]


def _engine_label(name: str) -> str:
    """Return the name of an engine without its path."""
    family, _, argument = name.partition(":")
    if family == "stockfish":
        return f"Stockfish, Elo {argument}"
    if family == "fairy":
        return f"Fairy-Stockfish, level {argument}"
    command, _, options = argument.partition("?")
    words = " ".join(Path(word).name for word in command.split())
    return f"{words}, {options}" if options else words
