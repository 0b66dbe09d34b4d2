"""Check the compiled functions of a rules module on random games; repetitions come last."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rookery.games.contract.random_games import (
    CheckWarning,
    RandomGames,
    after,
    legal_moves,
    planes_of,
    require,
)
from rookery.games.game import DRAW, LOSS, ONGOING, WIN, Action, Game, State

NUM_OUTCOMES = 10  # outcomes of one position that are compared
MAX_TIMES = 3  # largest number of earlier occurrences of a position to try


def check_start(played: RandomGames) -> str:
    """Check that `start` sets the whole record, whatever it held before."""
    fresh = played.game.new_states(1)[0]
    for _ in range(10):
        states = played.game.blank_states(1)
        states.view(np.uint8)[:] = played.rng.integers(0, 256, states.nbytes, dtype=np.uint8)
        played.game.rules.start(states[0])
        require(
            states[0].tobytes() == fresh.tobytes(),
            "start keeps part of the state that it is given: set every field and every cell",
        )
    outcome = played.game.rules.outcome(fresh)
    require(outcome == ONGOING, f"the first position has outcome {outcome}, expected ONGOING")
    return "start sets every field"


def check_legality(played: RandomGames) -> str:
    """Check that a game in progress has moves: distinct, in range and at most MAX_LEGAL."""
    most = 0
    for state, line in played.positions():
        if played.game.rules.outcome(state) != ONGOING:
            continue
        actions = legal_moves(played.game, played.game.rules, state)
        most = max(most, len(actions))
        require(
            actions,
            f"there is no legal move {after(line)}, but outcome is ONGOING: end the game there",
        )
        require(
            min(actions) >= 0 and max(actions) < played.game.num_actions,
            f"legal writes {actions} {after(line)}: expected actions from 0 to NUM_ACTIONS - 1,"
            f" {played.game.num_actions - 1}",
        )
        require(
            len(actions) == len(set(actions)),
            f"legal writes {actions} {after(line)}: write each action once",
        )
    return f"at most {most} legal moves seen, MAX_LEGAL is {played.game.max_legal}"


def check_termination(played: RandomGames) -> str:
    """Check that every game ends within MAX_PLIES."""
    for state, line in played.positions():
        outcome = played.game.rules.outcome(state)
        require(
            outcome in (WIN, DRAW, LOSS, ONGOING),
            f"outcome is {outcome} {after(line)}: expected WIN, DRAW, LOSS or ONGOING",
        )
        require(
            outcome != ONGOING or len(line) < played.game.max_plies,
            f"a game is not over {after(line)}, but MAX_PLIES is {played.game.max_plies}: raise"
            " MAX_PLIES, or make the rules end the game",
        )
    longest = max(map(len, played.lines))
    return f"the longest game had {longest} plies, MAX_PLIES is {played.game.max_plies}"


def check_perspective(played: RandomGames) -> str:
    """Check that planes and outcomes are those of the player to move.

    Such planes change more from one ply to the next, because the sides swap, than over two plies.
    """
    wins = losses = 0
    one_ply = two_plies = 0.0
    history: list[NDArray[Any]] = []
    for state, line in played.positions():
        history = history[-2:] if line else []
        history.append(planes_of(played.game, played.game.rules, state))
        if len(history) == 3:
            one_ply += float(np.abs(history[2] - history[1]).sum())
            two_plies += float(np.abs(history[2] - history[0]).sum())
        outcome = played.game.rules.outcome(state)
        wins, losses = wins + (outcome == WIN), losses + (outcome == LOSS)
    if one_ply < 0.8 * two_plies:
        raise CheckWarning(
            "planes seem to be written for a fixed player, or play does not swap the sides: put the"
            " pieces of the player to move first, and after play the other player is to move"
            " (ignore this if both players share the pieces, as in Nim)"
        )
    if wins > losses:
        raise CheckWarning(
            f"{wins} games ended in WIN and {losses} in LOSS for the player to move: in most games"
            " the player who made the last move wins, so that outcome is LOSS"
        )
    return f"the player to move at the end lost {losses} games and won {wins}"


def check_planes(played: RandomGames) -> str:
    """Check that `planes` writes finite numbers into every cell and only reads the state."""
    for state, line in played.positions():
        before = state.tobytes()
        first = planes_of(played.game, played.game.rules, state, garbage=77.5)
        second = planes_of(played.game, played.game.rules, state, garbage=-3.25)
        require(
            np.isfinite(first).all(),
            f"planes writes infinity or NaN {after(line)}: keep values near 0 to 1",
        )
        require(
            np.array_equal(first, second),
            f"planes does not write every cell {after(line)}: write zeros, too",
        )
        require(state.tobytes() == before, f"planes changes the state {after(line)}: only read it")
    return f"every cell of {played.game.planes_shape} is written in every position"


def check_copies(played: RandomGames) -> str:
    """Check that moves depend on the state alone and that other functions do not change it."""
    rules = played.game.rules
    for state, line in played.positions():
        before = state.tobytes()
        outcome = rules.outcome(state)
        require(
            all(rules.outcome(state) == outcome for _ in range(NUM_OUTCOMES)),
            f"outcome is random {after(line)}: it must depend on the state alone",
        )
        if outcome == ONGOING:
            for action in legal_moves(played.game, rules, state):
                copies = played.game.blank_states(2)
                copies[:] = state
                rules.play(copies[0], action)
                rules.play(copies[1], action)
                require(
                    copies[0].tobytes() == copies[1].tobytes(),
                    f"play({action}) {after(line)} has two results: keep everything in STATE",
                )
        require(
            state.tobytes() == before,
            f"legal, outcome or play on a copy changes the state {after(line)}: only read it",
        )
    return "playing on a copy leaves the original unchanged"


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
