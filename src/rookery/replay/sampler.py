"""Batches for the learner, of rows of a window: planes are made here, from compact states.

A batch depends on the window, its rows and the generator alone. Its kernels run on one thread,
beside the learner's: a second team of threads on the same cores would slow both.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rookery.base import compiled
from rookery.games import Game, States
from rookery.replay.deck import Indices
from rookery.replay.samples import Samples
from rookery.replay.window import Window

Item = TypeVar("Item")
Column = NDArray[Any] | Tensor

EVERY = slice(None)
_END: Any = object()  # what `prefetch` finds behind the last item


@dataclass(frozen=True)
class Batch:
    """B training rows, for the player to move, in the host's memory or on a device.

    planes: [B, P, H, W] float32 what the net sees.
    policy: [B, A] float32 the search's policy; rows sum to one.
    legal: [B, A] bool the legal actions.
    wdl: [B, 3] float32 probabilities of win, draw and loss to aim at; rows sum to one.
    """

    planes: Column
    policy: Column
    legal: Column
    wdl: Column

    def __len__(self) -> int:
        return len(self.planes)

    def pinned(self) -> "Batch":
        """The batch where a GPU can fetch it while the host goes on."""
        columns = (self.planes, self.policy, self.legal, self.wdl)
        return Batch(*(torch.as_tensor(column).pin_memory() for column in columns))


def sample(
    window: Window,
    rng: np.random.Generator,
    *,
    rows: Indices,
    result_mix: float,
    mine: Indices | slice = EVERY,
) -> Batch:
    """A batch of `rows`, each turned by a random symmetry of the game, or only those at `mine`.

    result_mix: share of the game's result in `wdl`; the rest is the search's value.
    """
    game, samples = window.game, window.samples
    turns = rng.integers(len(game.cell_symmetries), size=len(rows))[mine]
    rows = rows[mine]
    policy, legal = _policies(samples, rows, turns, game)
    return Batch(
        planes=_planes(samples.states, rows, turns, game),
        policy=policy,
        legal=legal,
        wdl=mix_values(samples.results[rows], samples.values[rows], result_mix=result_mix),
    )


def mix_values(
    results: NDArray[np.int8], values: NDArray[np.float16], *, result_mix: float
) -> NDArray[np.float32]:
    """[B, 3] win, draw and loss: the results' share `result_mix`, the rest by the search."""
    value, draw = values.astype(np.float32).T
    searched = np.stack([(1 - draw + value) / 2, draw, (1 - draw - value) / 2], axis=1)
    searched = np.maximum(searched, 0)
    searched /= searched.sum(axis=1, keepdims=True)
    played = np.eye(3, dtype=np.float32)[1 - results]
    mixed: NDArray[np.float32] = np.float32(result_mix) * played
    mixed += np.float32(1 - result_mix) * searched
    return mixed


def prefetch(items: Iterable[Item], depth: int = 2) -> Generator[Item, None, None]:
    """The items in their order, up to `depth` made ahead by a thread; close it to stop early."""
    source = iter(items)
    with ThreadPoolExecutor(1, "prefetch") as pool:
        ahead = deque(pool.submit(next, source, _END) for _ in range(depth))
        while (item := ahead.popleft().result()) is not _END:
            ahead.append(pool.submit(next, source, _END))
            yield item


def _policies(
    samples: Samples, rows: Indices, turns: Indices, game: Game
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Policies and legal actions [B, A] of the rows, turned."""
    first = samples.starts[rows].astype(np.int64)
    counts = samples.starts[rows + 1] - first
    row = np.repeat(np.arange(len(rows)), counts)
    entry = np.arange(len(row)) + np.repeat(first - (np.cumsum(counts) - counts), counts)
    new_action = np.argsort(game.action_symmetries, axis=1)  # the inverse: old action to new
    action = new_action[turns[row], samples.actions[entry]]
    policy = np.zeros((len(rows), game.num_actions), np.float32)
    legal = np.zeros(policy.shape, np.bool_)
    policy[row, action] = samples.probabilities[entry]
    legal[row, action] = True
    policy /= policy.sum(axis=1, keepdims=True)
    return policy, legal


def _planes(states: States, rows: Indices, turns: Indices, game: Game) -> NDArray[np.float32]:
    """Planes [B, P, H, W] of the rows, turned."""
    num_planes, height, width = game.planes_shape
    planes = np.zeros((len(rows), *game.planes_shape), np.float32)
    _planes_kernel(game.rules)(states, rows, planes)
    flat = planes.reshape(len(rows), num_planes, height * width)
    scratch = np.empty((len(rows), height * width), np.float32)
    _turn_planes(flat, turns, game.cell_symmetries, scratch)
    return planes


@cache
def _planes_kernel(rules: ModuleType) -> Callable[..., None]:
    @compiled
    def write_planes(states: States, rows: Indices, out: NDArray[np.float32]) -> None:
        for i in range(len(rows)):
            rules.planes(states[rows[i]], out[i])

    return write_planes


@compiled
def _turn_planes(
    planes: NDArray[np.float32],
    turns: Indices,
    cells: NDArray[np.int32],
    scratch: NDArray[np.float32],
) -> None:
    for i in range(len(turns)):
        _turn(planes[i], turns[i], cells, scratch[i])


@compiled
def _turn(
    planes: NDArray[np.float32], turn: int, cells: NDArray[np.int32], scratch: NDArray[np.float32]
) -> None:
    """Turn one position's planes [P, H * W] in place; symmetry 0 is the identity."""
    if turn == 0:
        return
    for plane in range(planes.shape[0]):
        for cell in range(planes.shape[1]):
            scratch[cell] = planes[plane, cells[turn, cell]]
        for cell in range(planes.shape[1]):
            planes[plane, cell] = scratch[cell]
