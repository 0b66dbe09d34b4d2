"""Batches for the learner: one scalar function makes a row of a batch, on CPU threads or a GPU."""

import os
from collections import deque
from collections.abc import Generator, Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple, TypeVar

import numba
import numpy as np
import torch
from torch import Tensor

from rookery.base import Index, Number, compiled, namespace
from rookery.games import Game
from rookery.gpu import cuda, kernel, launch, launches_on, view
from rookery.replay.part import place
from rookery.replay.rows import Rows
from rookery.replay.sampling import dealt_row, dealt_symmetry

Item = TypeVar("Item")
_END: Any = object()  # what `prefetch` finds behind the last item


@dataclass(frozen=True)
class Batch:
    """B training rows, for the player to move, in host memory or on a device.

    planes: [B, P, H, W] float32 what the network sees.
    policy: [B, A] float32 the search's policy; rows sum to one.
    legal: [B, A] bool the legal actions.
    wdl: [B, 3] float32 target probabilities of win, draw and loss; rows sum to one.
    parts: rows of each part in which gradients are computed; empty if all are alike.
    """

    planes: Tensor
    policy: Tensor
    legal: Tensor
    wdl: Tensor
    parts: tuple[int, ...] = field(default=(), kw_only=True)

    def __len__(self) -> int:
        return len(self.planes)

    def pinned(self) -> "Batch":
        """Return the batch in memory that a GPU can read while the host continues."""
        columns = (self.planes, self.policy, self.legal, self.wdl)
        return Batch(*(each.pin_memory() for each in columns), parts=self.parts)


class BatchArrays(NamedTuple):
    """The arrays of a batch as kernels take them, zeroed; scratch is as large as the planes."""

    planes: Any
    policy: Any
    legal: Any
    wdl: Any
    scratch: Any


class Symmetries(NamedTuple):
    """The tables of a game's S symmetries as kernels take them.

    cells: [S, H * W] new[c] = old[cells[s, c]].
    actions: [S, A] the action that each action becomes.
    """

    cells: Any
    actions: Any


class Deal(NamedTuple):
    """Which rows make a batch, as kernels take it.

    card: [1] the first card of the batch.
    offsets: [B] the cards of the rows, counted from there.
    oldest: [1] number, in the run, of the oldest row of the window.
    num_rows: [1] rows in the window.
    before: the part of the window that is held (see `part`).
    stream: the random stream of shuffle and symmetries.
    """

    card: Any
    offsets: Any
    oldest: Any
    num_rows: Any
    before: Any
    stream: np.uint64


def symmetries_of(game: Game, device: torch.device) -> Symmetries:
    """Return the symmetry tables of `game` on a device."""
    new_actions = np.argsort(game.action_symmetries, axis=1).astype(np.int32)
    tables = (game.cell_symmetries, new_actions)
    return Symmetries(*(view(torch.from_numpy(table).to(device)) for table in tables))


def build_batch(
    game: Game,
    rows: Rows,
    deal: Deal,
    symmetries: Symmetries,
    *,
    result_mix: float,
    device: torch.device,
) -> Batch:
    """Build the batch of the rows that `deal` names, each turned by a random symmetry.

    `result_mix` is the share of the game's result in `wdl`; the rest is the search's value.
    """
    size = deal.offsets.shape[0]
    planes, scratch = (torch.zeros((size, *game.planes_shape), device=device) for _ in range(2))
    policy = torch.zeros((size, game.num_actions), device=device)
    legal = torch.zeros((size, game.num_actions), dtype=torch.bool, device=device)
    wdl = torch.zeros((size, 3), device=device)
    out = BatchArrays(*(view(each) for each in (planes, policy, legal, wdl, scratch)))
    arguments = (rows, deal, symmetries, np.float32(result_mix), out)
    if launches_on(device) or numba.config.ENABLE_CUDASIM:
        launch(_on_gpu(game.rules), size, *arguments)
    else:
        _on_cpu(game.rules)(*arguments)
    return Batch(planes, policy, legal, wdl)


def prefetch(items: Iterable[Item], depth: int = 2) -> Generator[Item, None, None]:
    """Yield the items in order; a thread makes up to `depth` ahead. Close it to stop early.

    With depth 0 there is no thread, and each item is made when it is asked for.
    """
    source = iter(items)
    if depth == 0:
        yield from source
        return
    pool = _prefetcher()
    ahead = deque(pool.submit(next, source, _END) for _ in range(depth))
    try:
        while (item := ahead.popleft().result()) is not _END:
            ahead.append(pool.submit(next, source, _END))
            yield item
    finally:
        wait([future for future in ahead if not future.cancel()])


@cache
def _prefetcher() -> ThreadPoolExecutor:
    """Return the thread that makes items ahead.

    It stays: if memory is short, the start of a thread can hang.
    """
    return ThreadPoolExecutor(1, "prefetch")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_prefetcher.cache_clear)


@compiled
def write_policy(rows: Rows, row: Index, actions: Any, out: BatchArrays, b: Index) -> None:
    """Write the policy and the legal actions of a row, turned by the table `actions` [A]."""
    total = np.float32(0.0)
    for i in range(rows.num_legal[row]):
        total += np.float32(rows.policy[row, i])
    for i in range(rows.num_legal[row]):
        action = actions[rows.legal[row, i]]
        out.policy[b, action] = np.float32(rows.policy[row, i]) / total
        out.legal[b, action] = True


@compiled
def write_wdl(rows: Rows, row: Index, result_mix: Number, out: BatchArrays, b: Index) -> None:
    """Write the value target of a row: its result and the search's value, mixed."""
    value, draw = rows.values[row], rows.draws[row]
    win = max((np.float32(1.0) - draw + value) / np.float32(2.0), np.float32(0.0))
    loss = max((np.float32(1.0) - draw - value) / np.float32(2.0), np.float32(0.0))
    rest = (np.float32(1.0) - result_mix) / (win + draw + loss)
    out.wdl[b, 0], out.wdl[b, 1], out.wdl[b, 2] = rest * win, rest * draw, rest * loss
    out.wdl[b, 1 - np.int64(rows.results[row])] += result_mix


@compiled
def turn_planes(cells: Any, out: BatchArrays, b: Index) -> None:
    """Copy the planes of a row from scratch, turned by the table `cells` [H * W]."""
    width = out.planes.shape[3]
    for plane in range(out.planes.shape[1]):
        for cell in range(out.planes.shape[2] * width):
            old = cells[cell]
            value = out.scratch[b, plane, old // width, old % width]
            out.planes[b, plane, cell // width, cell % width] = value


def _bind(rules: ModuleType) -> ModuleType:
    @compiled
    def write_row(rows, deal, symmetries, result_mix, out, b):  # type: ignore[no-untyped-def]
        """Write row b of a batch."""
        card = np.uint64(deal.card[0] + deal.offsets[b])
        row = dealt_row(card, np.uint64(deal.num_rows[0]), deal.stream)
        row = place(deal.before, np.int64(deal.oldest[0] + row)) % np.int64(rows.moves.shape[0])
        symmetry = dealt_symmetry(card, np.uint64(symmetries.cells.shape[0]), deal.stream)
        rules.planes(rows.states[row], out.scratch[b])
        turn_planes(symmetries.cells[symmetry], out, b)
        write_policy(rows, row, symmetries.actions[symmetry], out, b)
        write_wdl(rows, row, result_mix, out, b)

    return namespace(f"{rules.__name__}.batch", [write_row])


@cache
def _on_cpu(rules: ModuleType) -> Any:
    """One thread: the learner's threads run on the same cores."""
    one = _bind(rules)

    @compiled
    def write_rows(rows, deal, symmetries, result_mix, out):  # type: ignore[no-untyped-def]
        for b in range(deal.offsets.shape[0]):
            one.write_row(rows, deal, symmetries, result_mix, out, np.int64(b))

    return write_rows


@cache
def _on_gpu(rules: ModuleType) -> Any:
    one = _bind(rules)

    @kernel
    def write_rows(rows, deal, symmetries, result_mix, out):  # type: ignore[no-untyped-def]
        b = cuda.grid(1)
        if b < deal.offsets.shape[0]:
            one.write_row(rows, deal, symmetries, result_mix, out, np.int64(b))

    return write_rows
