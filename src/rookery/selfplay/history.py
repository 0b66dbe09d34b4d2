"""The games in progress: what self-play writes down until a game ends."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rookery.games import Game, GameRecord, States


class History(NamedTuple):
    """G unfinished games of at most T plies and L legal moves.

    states: [G, T] positions searched.
    actions: [G, T] moves made.
    values: [G, T, 2] the search's value and draw probability, for the player to move.
    num_legal: [G, T] legal moves.
    policy_actions: [G, T, L] those moves.
    policy: [G, T, L] their probabilities after the search.
    lengths: [G] positions written down.
    first_plies: [G] random moves before the first of them.
    results: [G] ONGOING, or the result for the player to move in the first position.
    streams: [G] states of `base.uniform`.
    """

    states: States
    actions: NDArray[np.int16]
    values: NDArray[np.float32]
    num_legal: NDArray[np.int16]
    policy_actions: NDArray[np.int16]
    policy: NDArray[np.float32]
    lengths: NDArray[np.int32]
    first_plies: NDArray[np.int32]
    results: NDArray[np.int8]
    streams: NDArray[np.uint64]


def new_history(game: Game, num_games: int, streams: NDArray[np.uint64]) -> History:
    """Room for `num_games` games."""
    plies, legal = game.max_plies, game.max_legal

    def zeros(dtype: Any, *shape: int) -> NDArray[Any]:
        return np.zeros((num_games, *shape), dtype)

    return History(
        states=game.blank_states(num_games, plies),
        actions=zeros(np.int16, plies),
        values=zeros(np.float32, plies, 2),
        num_legal=zeros(np.int16, plies),
        policy_actions=zeros(np.int16, plies, legal),
        policy=zeros(np.float32, plies, legal),
        lengths=zeros(np.int32),
        first_plies=zeros(np.int32),
        results=zeros(np.int8),
        streams=streams,
    )


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
