"""The rules a second time, uncompiled: they must say what the compiled ones say."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import numba
import numpy as np

from rookery.base import interpreted
from rookery.games.contract.repetition import compare_repetitions
from rookery.games.contract.trial import Trial, legal_moves, planes_of, require, where
from rookery.games.game import FUNCTIONS, ONGOING, Action, Game, State
from rookery.games.registry import PACKAGE, import_rules, load_rules, plain_name

MOST_INTERPRETED = 400  # positions; Python may take milliseconds for each


def check_compiled(trial: Trial) -> str:
    """The rules, loaded a second time uncompiled, say the same of positions all over the games."""
    game, twin = trial.game, load_interpreted(trial.game)
    for name in FUNCTIONS:
        require(
            numba.config.DISABLE_JIT or hasattr(getattr(game.rules, name), "py_func"),
            f"{name} is not compiled: write @compiled (from rookery.base) above it",
        )
    positions = [(state.copy(), line) for state, line in trial.positions()]
    stride = -(-len(positions) // MOST_INTERPRETED)
    with np.errstate(over="ignore"):  # bitboards wrap around on purpose
        first, plain = game.new_states(2)
        twin.start(plain)
        _compare(game, twin, first, plain, [])
        for state, line in positions[::stride]:
            _compare(game, twin, state, state.copy(), line)
            if game.rules.outcome(state) == ONGOING:
                _compare_play(game, twin, state, line, trial.stream)
    return f"compiled and interpreted rules agree in {len(positions[::stride])} positions"


def _compare_play(
    game: Game, twin: ModuleType, state: State, line: list[Action], stream: np.random.Generator
) -> None:
    """Make a random move both ways."""
    action = int(stream.choice(legal_moves(game, game.rules, state)))
    after, plain = state.copy(), state.copy()
    game.rules.play(after, action)
    twin.play(plain, action)
    _require_same({"start or play": after.tobytes() == plain.tobytes()}, [*line, action])


def _compare(game: Game, twin: ModuleType, state: State, plain: State, line: list[Action]) -> None:
    same = {
        "start or play": state.tobytes() == plain.tobytes(),
        "outcome": game.rules.outcome(state) == twin.outcome(plain),
        "planes": np.array_equal(planes_of(game, game.rules, state), planes_of(game, twin, plain)),
        **compare_repetitions(game, twin, state, plain),
    }
    if game.rules.outcome(state) == ONGOING:
        same["legal"] = legal_moves(game, game.rules, state) == legal_moves(game, twin, plain)
    _require_same(same, line)


def _require_same(same: dict[str, bool], line: list[Action]) -> None:
    for name, equal in same.items():
        require(
            equal,
            f"{name} differs compiled and uncompiled {where(line)}: mixed integer types? Make"
            " every constant of bit arithmetic a module-level np.uint64",
        )


def load_interpreted(game: Game) -> ModuleType:
    """The rules of `game` once more, uncompiled, with all of its files."""
    with interpreted():
        if game.module.__name__.startswith(PACKAGE):
            with _set_aside(f"{PACKAGE}.{plain_name(game.name)}"):
                return import_rules(game.name)
        path, name = Path(str(game.module.__file__)), f"{game.module.__name__}_interpreted"
        return load_rules(game.source, path, name)


@contextmanager
def _set_aside(name: str) -> Iterator[None]:
    """Module `name` and those inside it are imported anew; afterwards all is as it was."""
    parent, _, last = name.rpartition(".")
    kept = {each: sys.modules[each] for each in sys.modules if f"{each}.".startswith(f"{name}.")}
    for each in kept:
        del sys.modules[each]
    try:
        yield
    finally:
        for each in [each for each in sys.modules if f"{each}.".startswith(f"{name}.")]:
            del sys.modules[each]
        sys.modules.update(kept)
        setattr(sys.modules[parent], last, kept[name])
