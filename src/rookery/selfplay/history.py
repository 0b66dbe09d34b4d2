"""The games in progress: what self-play writes down until a game ends."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rookery.games import Game, GameRecord, States


class History(NamedTuple):
    """G unfinished games in T rows each, one row a position, of at most L legal moves.

    states: [G, T] positions searched.
    actions: [G, T] moves made.
    values: [G, T, 2] the search's value and draw probability, for the player to move.
    num_legal: [G, T] legal moves.
    policy_actions: [G, T, L] those moves.
    policy: [G, T, L] their probabilities after the search.
    firsts: [G] row of the game's first position; rows before it belong to games that have ended.
    lengths: [G] positions written down.
    first_plies: [G] random moves before the first of them.
    results: [G] ONGOING, or the result for the player to move in the first position.
    streams: [G] states of `base.uniform`.
    plays_on: [G] whether nobody resigns in the game.
    gave_up: [G] who would have resigned in such a game: 1 for the player to move in the first
        position, -1 for the other, 0 for nobody.
    checks: [G] such games in which somebody would have, so far.
    errors: [G] those that he did not lose.
    """

    states: States
    actions: NDArray[np.int16]
    values: NDArray[np.float32]
    num_legal: NDArray[np.int16]
    policy_actions: NDArray[np.int16]
    policy: NDArray[np.float32]
    firsts: NDArray[np.int32]
    lengths: NDArray[np.int32]
    first_plies: NDArray[np.int32]
    results: NDArray[np.int8]
    streams: NDArray[np.uint64]
    plays_on: NDArray[np.int8]
    gave_up: NDArray[np.int8]
    checks: NDArray[np.int32]
    errors: NDArray[np.int32]


Layout = tuple[tuple[Any, tuple[int, ...]], ...]
"""The dtype and shape of each array of a `History`."""


def layout(game: Game, num_games: int, num_rows: int) -> Layout:
    """Arrays for `num_games` games in `num_rows` rows each."""
    rows, legal = (num_games, num_rows), game.max_legal
    return (
        (game.state_dtype, rows),
        (np.int16, rows),
        (np.float32, (*rows, 2)),
        (np.int16, rows),
        (np.int16, (*rows, legal)),
        (np.float32, (*rows, legal)),
        (np.int32, (num_games,)),
        (np.int32, (num_games,)),
        (np.int32, (num_games,)),
        (np.int8, (num_games,)),
        (np.uint64, (num_games,)),
        (np.int8, (num_games,)),
        (np.int8, (num_games,)),
        (np.int32, (num_games,)),
        (np.int32, (num_games,)),
    )


def new_history(game: Game, num_games: int, num_rows: int, streams: NDArray[np.uint64]) -> History:
    """Room for `num_games` games in the host's memory; each is taken away when it ends."""
    (_, rows), *others = layout(game, num_games, num_rows)
    columns: list[Any] = [np.zeros(shape, dtype) for dtype, shape in others]
    history = History(game.blank_states(*rows), *columns)
    history.streams[:] = streams
    return history


def to_record(history: History, g: int) -> GameRecord:
    """Game g, which has ended, as a record of its own."""
    length = history.lengths[g]
    counts = history.num_legal[g, :length]
    is_legal = np.arange(history.policy.shape[2]) < counts[:, None]
    return GameRecord(
        states=history.states[g, :length].copy(),
        actions=history.actions[g, :length].copy(),
        values=history.values[g, :length].copy(),
        policy_starts=np.concatenate(([0], np.cumsum(counts))).astype(np.int32),
        policy_actions=history.policy_actions[g, :length][is_legal],
        policy=history.policy[g, :length][is_legal].astype(np.float16),
        result=int(history.results[g]),
        first_ply=int(history.first_plies[g]),
    )
