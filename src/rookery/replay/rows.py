"""Rows of finished games in a GPU's memory, on their way from self-play to the window."""

from typing import Any, NamedTuple

import numpy as np
import torch

from rookery.games import Game
from rookery.gpu import copy_in, to_host, zeros
from rookery.replay.samples import Samples

Array = Any  # a kernel's


class DeviceRows(NamedTuple):
    """R rows, each one searched position; rows of one game lie together, in order.

    states: [R] positions.
    results: [R] int8 how the game ended, for the player to move.
    values: [R, 2] float32 the search's value and draw probability.
    num_legal: [R] int16 legal actions.
    actions: [R, L] int16 those actions.
    policy: [R, L] float32 the search's policy over them.
    plies: [R] int16 moves made before the position.
    steps: [R] int16 rows of the same game before it.
    moves: [R] int16 the move made.
    """

    states: Array
    results: Array
    values: Array
    num_legal: Array
    actions: Array
    policy: Array
    plies: Array
    steps: Array
    moves: Array

    def fetch(self, count: int) -> "DeviceRows":
        """The first `count` rows in the host's memory."""
        return DeviceRows(*(to_host(column[:count]) for column in self))


def new_rows(game: Game, count: int, device: torch.device) -> DeviceRows:
    """Room for `count` rows."""

    def column(dtype: Any, *shape: int) -> Array:
        return zeros(device, dtype, count, *shape)

    return DeviceRows(
        states=column(game.state_dtype),
        results=column(np.int8),
        values=column(np.float32, 2),
        num_legal=column(np.int16),
        actions=column(np.int16, game.max_legal),
        policy=column(np.float32, game.max_legal),
        plies=column(np.int16),
        steps=column(np.int16),
        moves=column(np.int16),
    )


def to_samples(rows: DeviceRows, iteration: int) -> Samples:
    """Rows in the host's memory as samples, all born in `iteration`."""
    is_legal = np.arange(rows.actions.shape[1]) < rows.num_legal[:, None]
    return Samples(
        states=rows.states,
        results=rows.results,
        values=rows.values.astype(np.float16),
        starts=np.concatenate(([0], np.cumsum(rows.num_legal, dtype=np.int64))).astype(np.uint32),
        actions=rows.actions[is_legal],
        probabilities=rows.policy[is_legal].astype(np.float16),
        plies=rows.plies,
        born=np.full(len(rows.results), iteration, np.int32),
    )


def from_samples(samples: Samples, game: Game, device: torch.device) -> DeviceRows:
    """Samples on a GPU; steps and moves, which only reports need, stay zero."""
    rows = new_rows(game, len(samples), device)
    counts = np.diff(samples.starts.astype(np.int64))
    is_legal = np.arange(game.max_legal) < counts[:, None]
    actions = np.zeros(is_legal.shape, np.int16)
    policy = np.zeros(is_legal.shape, np.float32)
    actions[is_legal], policy[is_legal] = samples.actions, samples.probabilities
    copy_in(rows.states, samples.states)
    copy_in(rows.results, samples.results)
    copy_in(rows.values, samples.values.astype(np.float32))
    copy_in(rows.num_legal, counts.astype(np.int16))
    copy_in(rows.actions, actions)
    copy_in(rows.policy, policy)
    copy_in(rows.plies, samples.plies)
    return rows
