"""Check that compiled and uncompiled rules agree."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

import numba
import numpy as np

from rookery.base import interpreted
from rookery.games.contract.positions import compare_repetitions
from rookery.games.contract.random_games import RandomGames, after, legal_moves, planes_of, require
from rookery.games.game import FUNCTIONS, ONGOING, Action, Game, State
from rookery.games.registry import PACKAGE, import_rules, load_rules, plain_name

MAX_POSITIONS = 400  # uncompiled rules may take milliseconds per position


def check_compiled(played: RandomGames) -> str:
    """Check the rules against a second, uncompiled copy in positions of the random games."""
    game, twin = played.game, load_interpreted(played.game)
    for name in FUNCTIONS:
        require(
            numba.config.DISABLE_JIT or hasattr(getattr(game.rules, name), "py_func"),
            f"{name} is not compiled: decorate it with @compiled from rookery.base",
        )
    positions = [(state.copy(), line) for state, line in played.positions()]
    stride = -(-len(positions) // MAX_POSITIONS)
    with np.errstate(over="ignore"):  # bitboards overflow on purpose
        first, plain = game.new_states(2)
        twin.start(plain)
        _compare(game, twin, first, plain, [])
        for state, line in positions[::stride]:
            _compare(game, twin, state, state.copy(), line)
            if game.rules.outcome(state) == ONGOING:
                _compare_play(game, twin, state, line, played.rng)
    return f"compiled and uncompiled rules agree in {len(positions[::stride])} positions"


def _compare_play(
    game: Game, twin: ModuleType, state: State, line: list[Action], rng: np.random.Generator
) -> None:
    """Compare the states after a random move."""
    action = int(rng.choice(legal_moves(game, game.rules, state)))
    ours, plain = state.copy(), state.copy()
    game.rules.play(ours, action)
    twin.play(plain, action)
    _require_same({"start or play": ours.tobytes() == plain.tobytes()}, [*line, action])


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
            f"{name} differs between compiled and uncompiled rules {after(line)}; this may be"
            " due to mixed integer types: make every constant of bit arithmetic an np.uint64",
        )


def load_interpreted(game: Game) -> ModuleType:
    """Return a second, uncompiled copy of the rules of `game`, with all of its files."""
    with interpreted():
        if game.source:
            name = f"{game.path.stem}.{game.digest[:12]}_interpreted"
            return load_rules(game.source, game.path, name)
        with _reimport(f"{PACKAGE}.{plain_name(game.name)}"):
            return import_rules(game.name)


@contextmanager
def _reimport(name: str) -> Iterator[None]:
    """Import module `name` and its submodules again inside, and restore the first ones."""
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
