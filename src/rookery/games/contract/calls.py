"""Call the uncompiled rules of a user's game in random games, and count the lines executed.

Uncompiled rules report the file and line of a misspelt field or of an index off the board, and a
function that never returns can be stopped there. Compiled rules can do neither.
"""

import dis
import sys
import traceback
from collections.abc import Callable
from types import FrameType, FunctionType
from typing import Any

import numba
import numpy as np

from rookery.base import generator
from rookery.games.contract.compilation import load_interpreted
from rookery.games.contract.random_games import CheckFailed, after, require
from rookery.games.game import FUNCTIONS, ONGOING, Action, Game

MAX_CALLED = 300  # moves
MAX_LINES = 2_000_000
"""Lines that one call may execute: a second or more uncompiled."""


class EndlessLoop(CheckFailed):
    """A function of the rules does not return, so that no other check can run."""


def check_calls(game: Game, games: int) -> str:
    """Call every function in positions of random games; report errors with file and line."""
    if not game.source:
        return "not needed for a shipped game"
    if not numba.config.DISABLE_JIT:
        for name in FUNCTIONS:
            _require_compiled(game, getattr(game.rules, name), set())
    rules, rng, moves = load_interpreted(game), generator(0, "calls"), 0
    with np.errstate(over="ignore"):  # bitboards overflow on purpose
        for _ in range(games):
            moves += _play(game, rules, rng)
            if moves >= MAX_CALLED:
                break
    return f"{moves} moves of uncompiled rules, with every index checked"


def _require_compiled(game: Game, function: Any, known: set[str]) -> None:
    """Check that a function of the rules, and every function that it calls, is compiled."""
    require(
        hasattr(function, "py_func"),
        f"{_place(game, function.__code__.co_firstlineno)}: {function.__name__} is not compiled:"
        " write @compiled above it, from rookery.base",
    )
    known.add(function.__name__)
    loads = dis.get_instructions(function.py_func)
    used = {load.argval for load in loads if load.opname == "LOAD_GLOBAL"}
    for name in used - known:
        called = function.py_func.__globals__.get(name)
        plain = getattr(called, "py_func", called)
        if isinstance(plain, FunctionType) and plain.__module__ == function.__module__:
            _require_compiled(game, called, known)


def _play(game: Game, rules: Any, rng: np.random.Generator) -> int:
    """Play a random game, cut short where other checks report the rules; return its length."""
    state, line = game.blank_states(1)[0], list[Action]()
    legal = np.zeros(game.num_actions, np.int32)
    planes = np.zeros(game.planes_shape, np.float32)
    _call(game, rules.start, line, state)
    while len(line) <= game.max_plies:
        _call(game, rules.planes, line, state, planes)
        _call(game, rules.show, line, state)
        if _call(game, rules.outcome, line, state) != ONGOING:
            break
        actions = legal[: _call(game, rules.legal, line, state, legal)]
        actions = actions[(actions >= 0) & (actions < game.num_actions)]
        if not len(actions):
            break
        action = int(rng.choice(actions))
        _call(game, rules.write_move, line, state, action)
        _call(game, rules.play, line, state, action)
        line.append(action)
    return len(line)


def _call(game: Game, function: Callable[..., Any], line: list[Action], *arguments: Any) -> Any:
    """Call a function of the rules; raise CheckFailed with the line of an error or endless loop."""
    lines_left, before = MAX_LINES, sys.gettrace()

    def count(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal lines_left
        if event == "line" and frame.f_code.co_filename == str(game.path):
            lines_left -= 1
            if lines_left < 0:
                raise EndlessLoop(
                    f"{_place(game, frame.f_lineno)}: {function.__name__} does not return"
                    f" {after(line)}: it executed {MAX_LINES:,} lines; does this loop end?"
                )
        return count

    sys.settrace(count)
    try:
        return function(*arguments)
    except CheckFailed:
        raise
    except Exception as error:  # a user's rules may raise anything
        sys.settrace(before)
        frames = traceback.extract_tb(error.__traceback__)
        last = [frame.lineno for frame in frames if frame.filename == str(game.path)]
        raise CheckFailed(
            f"{_place(game, last[-1] if last else 1)}: {function.__name__} raises"
            f" {type(error).__name__} {after(line)}: {error}{_hint(game, error)}"
        ) from error
    finally:
        sys.settrace(before)


def _hint(game: Game, error: Exception) -> str:
    if isinstance(error, AttributeError):
        return f"; the fields of STATE are {', '.join(game.state_dtype.names or ())}"
    if isinstance(error, IndexError):
        return "; test the index before you use it, or enlarge the array"
    return ""


def _place(game: Game, lineno: int | None) -> str:
    return f"{game.path.name}, line {lineno}"
