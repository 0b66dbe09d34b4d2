"""Players by text:

random            any legal move
minimax:4         looks 4 plies ahead
solver            perfect play, for connect4 and tictactoe
RUN               the newest net of a run folder, with 100 simulations a move
RUN:400           the same with 400; RUN:0 is the bare net
RUN@120:400       its net of iteration 120
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from rookery.arena import (
    Connect4Solver,
    ExhaustiveSolver,
    MinimaxPlayer,
    Player,
    RandomPlayer,
    SearchPlayer,
    SolverPlayer,
)
from rookery.base import ConfigError, RookeryError, UnknownName
from rookery.games import Game, game, game_names
from rookery.nets import METHODS, CudaEvaluator, Evaluator
from rookery.run import RunFolder
from rookery.runtime import find_device, use_device

SIMULATIONS = 100
"""Simulations a move where the text does not say."""
DEPTH = 4
PLAIN = ("minimax:4", "random", "solver")
_RUN = re.compile(r"(?P<path>.+?)(@(?P<iteration>\d+))?(:(?P<simulations>\d+))?")


@dataclass(frozen=True)
class RunText:
    """A run's net, as a text names it."""

    folder: RunFolder
    iteration: int | None
    simulations: int


def find_game(name: str) -> Game:
    """A shipped game, or the one in a rules file, which may be broken in any way."""
    try:
        return game(name)
    except RookeryError:
        raise
    except Exception as error:  # a user's own rules, imported: anything may go wrong in them
        reason = f"{type(error).__name__}: {error}"
        raise ConfigError(f"{name} cannot be imported as rules ({reason}); mend it") from error


def is_game(text: str) -> bool:
    """Whether `text` names a game rather than a run."""
    return text in game_names() or text.endswith(".py")


def read_run(
    text: str, *, simulations: int = SIMULATIONS, others: Iterable[str] = PLAIN
) -> RunText | None:
    """The run that `text` names, or None if it names a plain player.

    `others` are what else may stand in its place: the nearest of them is named in the error.
    """
    if text in ("random", "solver") or text.split(":")[0] == "minimax":
        return None
    if Path(text).is_dir():
        return RunText(RunFolder(Path(text)), None, simulations)
    parts = _RUN.fullmatch(text)
    if parts is None or not Path(parts["path"]).is_dir():
        raise UnknownName("run folder or name", text, (*others, *_neighbours(Path(text).parent)))
    iteration = int(parts["iteration"]) if parts["iteration"] else None
    wanted = int(parts["simulations"]) if parts["simulations"] else simulations
    return RunText(RunFolder(Path(parts["path"])), iteration, wanted)


def make_player(
    text: str, game: Game, *, seed: int, inference: str = "float32", devices: str = "cpu"
) -> Player:
    """The player that `text` names, for `game`."""
    run = read_run(text)
    if run is not None:
        return net_player(run, game, seed=seed, inference=inference, name=text, devices=devices)
    if text == "random":
        return RandomPlayer(game, seed)
    if text == "solver":
        return solver_player(game, seed=seed)
    return MinimaxPlayer(game, _depth(text), seed=seed)


def net_player(
    run: RunText, game: Game, *, seed: int, inference: str, name: str, devices: str
) -> SearchPlayer:
    """The player of a run's net."""
    if run.folder.game.name != game.name:
        raise ConfigError(
            f"{run.folder.path} plays {run.folder.game.name}, not {game.name}; "
            f"choose a run of {game.name}"
        )
    return SearchPlayer(
        game,
        evaluator_of(run.folder, run.iteration, inference=inference, devices=devices),
        config=run.folder.config.search,
        simulations=run.simulations,
        seed=seed,
        name=name,
    )


def evaluator_of(
    folder: RunFolder, iteration: int | None, *, inference: str, devices: str
) -> Evaluator | CudaEvaluator:
    """A run's net, the newest one by default, ready to be asked.

    On a GPU `inference` is chosen anew: methods of the CPU mean nothing there, nor the reverse.
    """
    net, device = folder.load_weights(iteration).build(), find_device(devices)
    if device.type == "cuda":
        use_device(device)
        return CudaEvaluator(net, folder.game.planes_shape, device=device)
    known = inference if inference in METHODS else "auto"
    return Evaluator(net, folder.game.planes_shape, method=known)


def solver_player(game: Game, *, seed: int) -> SolverPlayer:
    """Perfect play, where there is a solver for `game`."""
    if game.name == "connect4":
        return SolverPlayer(game, Connect4Solver(), seed=seed)
    if game.name == "tictactoe":
        return SolverPlayer(game, ExhaustiveSolver(game), seed=seed)
    raise ConfigError(f"there is no solver for {game.name}; try minimax:{DEPTH}")


def default_opponent(game: Game) -> str:
    """Whom a person meets who has no run: perfect play where it is found at once."""
    return "solver" if game.name == "tictactoe" else f"minimax:{DEPTH}"


def _depth(text: str) -> int:
    number = text.partition(":")[2] or str(DEPTH)
    if not number.isdecimal():
        raise ConfigError(f"minimax takes its depth as in minimax:{DEPTH}, got {text!r}")
    return int(number)


def _neighbours(folder: Path) -> list[str]:
    """The run folders beside the one that was asked for."""
    if not folder.is_dir():
        return []
    return [str(path) for path in folder.iterdir() if (path / "run.json").exists()]
