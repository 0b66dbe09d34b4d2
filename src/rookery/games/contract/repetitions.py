"""Check the functions of rules whose positions can repeat."""

from typing import Any

import numpy as np

from rookery.games.contract.random_games import RandomGames, after, legal_moves, require
from rookery.games.game import ONGOING, Action, Game, State

MAX_TIMES = 3  # largest number of earlier occurrences to try


def check_repetitions(played: RandomGames) -> str:
    """Check that keys identify positions and that no repetition is missed."""
    game, longest = played.game, 0
    if not game.has_repetitions:
        return "positions cannot repeat: the rules have no key"
    require(
        game.repetition_window & (game.repetition_window - 1) == 0 and game.repetition_window > 1,
        f"REPETITION_WINDOW is {game.repetition_window}: expected a power of two above 1",
    )
    for line in played.lines:
        longest = max(longest, _check_line(game, line))
    return f"at most {longest} reversible plies, REPETITION_WINDOW is {game.repetition_window}"


def _check_line(game: Game, line: list[Action]) -> int:
    """Compare the keys along one line; return the largest value of `reversible_plies`."""
    state, longest, seen = game.new_states(1)[0], 0, dict[int, tuple[int, Any]]()
    for ply in range(len(line) + 1):
        reversible_plies, key = _check_key(game, state, line[:ply])
        longest, moves = max(longest, reversible_plies), _moves(game, state)
        if key in seen:
            before, others = seen[key]
            require(
                moves == others,
                f"key is the same after {before} and after {ply} of the actions {line}, but the"
                " legal moves differ: hash every field that matters for repetition",
            )
            require(
                ply - before <= reversible_plies,
                f"the position {after(line[:ply])} occurred {ply - before} plies ago, but"
                f" reversible_plies is {reversible_plies}: count all plies that can be reversed",
            )
        seen[key] = ply, moves
        if ply < len(line):
            game.rules.play(state, line[ply])
    return longest


def _check_key(game: Game, state: State, line: list[Action]) -> tuple[int, int]:
    """Return `reversible_plies` and `key`; check that `set_repetitions` changes neither."""
    before, key = state.tobytes(), int(game.rules.key(state))
    reversible_plies = int(game.rules.reversible_plies(state))
    require(state.tobytes() == before, f"key or reversible_plies changes the state {after(line)}")
    require(
        0 <= reversible_plies < game.repetition_window,
        f"reversible_plies is {reversible_plies} {after(line)}: expected 0 to "
        f"REPETITION_WINDOW - 1, {game.repetition_window - 1}",
    )
    copy = state.copy()
    game.rules.set_repetitions(copy, 0)
    require(
        copy.tobytes() == before,
        f"set_repetitions(state, 0) changes the state {after(line)}: after play, a state must"
        " have no repetitions",
    )
    for times in range(1, MAX_TIMES + 1):
        game.rules.set_repetitions(copy, times)
        require(
            int(game.rules.key(copy)) == key,
            f"key changes with set_repetitions(state, {times}) {after(line)}: it must not depend"
            " on the number of repetitions",
        )
    return reversible_plies, key


def _moves(game: Game, state: State) -> list[Action] | None:
    is_over = game.rules.outcome(state) != ONGOING
    return None if is_over else sorted(legal_moves(game, game.rules, state))


def compare_repetitions(game: Game, twin: Any, state: State, plain: State) -> dict[str, bool]:
    """Return by function whether compiled and uncompiled rules agree on repetitions."""
    if not game.has_repetitions:
        return {}
    copies = state.copy(), plain.copy()
    game.rules.set_repetitions(copies[0], np.int64(MAX_TIMES))
    twin.set_repetitions(copies[1], np.int64(MAX_TIMES))
    return {
        "key": int(game.rules.key(state)) == int(twin.key(plain)),
        "reversible_plies": int(game.rules.reversible_plies(state))
        == int(twin.reversible_plies(plain)),
        "set_repetitions": copies[0].tobytes() == copies[1].tobytes(),
    }
