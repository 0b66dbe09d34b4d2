"""The promises of rules whose positions may repeat: what they tell a game's memory."""

from typing import Any

import numpy as np

from rookery.games.contract.trial import Trial, legal_moves, require, where
from rookery.games.game import ONGOING, Action, Game, State

MOST_TIMES = 3
"""How often a position may have stood before, as far as it is tried."""


def check_repetitions(trial: Trial) -> str:
    """Keys tell positions apart and know them again; what could come back is remembered."""
    game, most = trial.game, 0
    if game.repetition_window == 1 and not hasattr(game.rules, "key"):
        return "positions never repeat: there is no key"
    require(
        game.repetition_window & (game.repetition_window - 1) == 0 and game.repetition_window > 1,
        f"REPETITION_WINDOW is {game.repetition_window}: expected a power of two above 1",
    )
    for line in trial.lines:
        most = max(most, _check_line(game, line))
    return (
        f"at most {most} positions could come back, REPETITION_WINDOW is {game.repetition_window}"
    )


def _check_line(game: Game, line: list[Action]) -> int:
    """The most that `reversible_plies` says along one line, whose keys are compared."""
    state, most, seen = game.new_states(1)[0], 0, dict[int, tuple[int, Any]]()
    for ply in range(len(line) + 1):
        reversible_plies, key = _check_key(game, state, line[:ply])
        most, moves = max(most, reversible_plies), _moves(game, state)
        if key in seen:
            before, others = seen[key]
            require(
                moves == others,
                f"key is the same after {before} and after {ply} of the actions {line}, but the"
                " moves are not: hash every field that the rules of repetition look at",
            )
            require(
                ply - before <= reversible_plies,
                f"the position {where(line[:ply])} occurred {ply - before} plies ago, but"
                f" reversible_plies is {reversible_plies}: count all plies that can be reversed",
            )
        seen[key] = ply, moves
        if ply < len(line):
            game.rules.play(state, line[ply])
    return most


def _check_key(game: Game, state: State, line: list[Action]) -> tuple[int, int]:
    """`reversible_plies` and `key` of a position, which `set_repetitions` must not change."""
    before, key, reversible_plies = (
        state.tobytes(),
        int(game.rules.key(state)),
        int(game.rules.reversible_plies(state)),
    )
    require(state.tobytes() == before, f"key or reversible_plies changes the state {where(line)}")
    require(
        0 <= reversible_plies < game.repetition_window,
        f"reversible_plies is {reversible_plies} {where(line)}: expected 0 to "
        f"REPETITION_WINDOW - 1, {game.repetition_window - 1}",
    )
    copy = state.copy()
    game.rules.set_repetitions(copy, 0)
    require(
        copy.tobytes() == before,
        f"set_repetitions(state, 0) changes the state {where(line)}: play must leave a state"
        " that has not occurred before",
    )
    for times in range(1, MOST_TIMES + 1):
        game.rules.set_repetitions(copy, times)
        require(
            int(game.rules.key(copy)) == key,
            f"key changes with set_repetitions(state, {times}) {where(line)}: it must not depend"
            " on how often the position occurred",
        )
    return reversible_plies, key


def _moves(game: Game, state: State) -> list[Action] | None:
    is_over = game.rules.outcome(state) != ONGOING
    return None if is_over else sorted(legal_moves(game, game.rules, state))


def compare_repetitions(game: Game, twin: Any, state: State, plain: State) -> dict[str, bool]:
    """Whether compiled and interpreted rules agree on what is remembered; recalls in copies."""
    if not hasattr(game.rules, "key"):
        return {}
    copies = state.copy(), plain.copy()
    game.rules.set_repetitions(copies[0], np.int64(MOST_TIMES))
    twin.set_repetitions(copies[1], np.int64(MOST_TIMES))
    return {
        "key": int(game.rules.key(state)) == int(twin.key(plain)),
        "reversible_plies": int(game.rules.reversible_plies(state))
        == int(twin.reversible_plies(plain)),
        "set_repetitions": copies[0].tobytes() == copies[1].tobytes(),
    }
