"""The promises of rules whose positions may repeat: what they tell a game's memory."""

from typing import Any

import numpy as np

from rookery.games.game import ONGOING, Action, Game, State
from rookery.games.trial import Trial, legal_moves, require, where

MOST_TIMES = 3
"""How often a position may have stood before, as far as it is tried."""


def check_memory(trial: Trial) -> str:
    """Keys tell positions apart and know them again; what could come back is remembered."""
    game, most = trial.game, 0
    if game.memory == 1 and not hasattr(game.rules, "key"):
        return "positions never repeat: there is no key"
    require(
        game.memory & (game.memory - 1) == 0 and game.memory > 1,
        f"MEMORY is {game.memory}: expected a power of two above 1",
    )
    for line in trial.lines:
        most = max(most, _check_line(game, line))
    return f"at most {most} positions could come back, MEMORY is {game.memory}"


def _check_line(game: Game, line: list[Action]) -> int:
    """The most that `quiet` says along one line, whose keys are compared."""
    state, most, seen = game.new_states(1)[0], 0, dict[int, tuple[int, Any]]()
    for ply in range(len(line) + 1):
        quiet, key = _check_key(game, state, line[:ply])
        most, moves = max(most, quiet), _moves(game, state)
        if key in seen:
            before, others = seen[key]
            require(
                moves == others,
                f"key is the same after {before} and after {ply} of the actions {line}, but the"
                " moves are not: hash every field that the rules of repetition look at",
            )
            require(
                ply - before <= quiet,
                f"the position {where(line[:ply])} stood there {ply - before} plies ago, but quiet"
                f" says {quiet}: it must reach back to all that could come again",
            )
        seen[key] = ply, moves
        if ply < len(line):
            game.rules.play(state, line[ply])
    return most


def _check_key(game: Game, state: State, line: list[Action]) -> tuple[int, int]:
    """`quiet` and `key` of a position, which `recall` must not change."""
    before, key, quiet = state.tobytes(), int(game.rules.key(state)), int(game.rules.quiet(state))
    require(state.tobytes() == before, f"key or quiet changes the state {where(line)}")
    require(
        0 <= quiet < game.memory,
        f"quiet is {quiet} {where(line)}: expected 0 to MEMORY - 1, {game.memory - 1}",
    )
    copy = state.copy()
    game.rules.recall(copy, 0)
    require(
        copy.tobytes() == before,
        f"recall(state, 0) changes the state {where(line)}: a position that never stood before"
        " is what play leaves behind",
    )
    for times in range(1, MOST_TIMES + 1):
        game.rules.recall(copy, times)
        require(
            int(game.rules.key(copy)) == key,
            f"key changes with recall(state, {times}) {where(line)}: it must know the position"
            " again however often it stood before",
        )
    return quiet, key


def _moves(game: Game, state: State) -> list[Action] | None:
    is_over = game.rules.outcome(state) != ONGOING
    return None if is_over else sorted(legal_moves(game, game.rules, state))


def compare_memory(game: Game, twin: Any, state: State, plain: State) -> dict[str, bool]:
    """Whether compiled and interpreted rules agree on what is remembered; recalls in copies."""
    if not hasattr(game.rules, "key"):
        return {}
    copies = state.copy(), plain.copy()
    game.rules.recall(copies[0], np.int64(MOST_TIMES))
    twin.recall(copies[1], np.int64(MOST_TIMES))
    return {
        "key": int(game.rules.key(state)) == int(twin.key(plain)),
        "quiet": int(game.rules.quiet(state)) == int(twin.quiet(plain)),
        "recall": copies[0].tobytes() == copies[1].tobytes(),
    }
