"""The window in a GPU's memory: rows arrive from self-play and leave as batches, all on the device.

The host keeps the books: which shards the rows came from, and how many were ever made.
"""

from collections.abc import Iterable
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rookery.games import Game
from rookery.gpu import as_tensor, cuda, kernel, launch, view
from rookery.replay.books import Books, ReplayConfig
from rookery.replay.rows import DeviceRows, from_samples, new_rows
from rookery.replay.sampler import Batch
from rookery.replay.samples import Samples
from rookery.replay.window import WindowStatistics

HASH_MULTIPLIER = 0x9E3779B97F4A7C15 - 2**64  # 2**64 / golden ratio, odd, as a signed number


class DeviceWindow:
    """The newest rows of a run: a ring of `config.window_max` rows."""

    def __init__(self, game: Game, config: ReplayConfig, device: torch.device) -> None:
        self.game, self.config, self.device = game, config, device
        self.books = Books(config)
        self._rows = new_rows(game, config.window_max, device)
        self._made = torch.zeros(1, dtype=torch.int64, device=device)
        self._size = torch.zeros(1, dtype=torch.int64, device=device)
        self._born = torch.zeros(config.window_max, dtype=torch.int32, device=device)
        cells = torch.from_numpy(game.cell_symmetries).long()
        self._cells = cells.to(device)
        self._new_actions = torch.from_numpy(np.argsort(game.action_symmetries, axis=1)).to(device)

    def append(self, rows: DeviceRows, count: Tensor, *, iteration: int) -> None:
        """Enqueue adding the first `count` [1] rows, a number that the host need not know."""
        ring = (self._rows, view(self._made), view(self._born))
        launch(_append(), len(rows.results), rows, view(count), *ring, iteration)
        self._made += count
        self._size.copy_(self._capacity(self._made).minimum(self._size + count))

    def refill(self, shards: Iterable[tuple[int, Samples]], rows_made: int) -> None:
        """Take up the rows of the shards (number, samples), the last of `rows_made`, in order."""
        loaded = list(shards)
        self.books.expect(rows_made, loaded=sum(len(samples) for _, samples in loaded))
        self._made.fill_(self.books.rows_made)
        for number, samples in loaded:
            self.books.next_shard = number
            self.add(samples)

    def add(self, samples: Samples) -> int:
        """Append the rows of a new shard of the host's; returns the shard's number."""
        rows = from_samples(samples, self.game, self.device)
        count = torch.tensor([len(samples)], device=self.device)
        self.append(rows, count, iteration=int(samples.born[0]))
        return self.books.enter(len(samples))

    @property
    def rows_made(self) -> int:
        """Rows ever made that the host knows of, the dropped ones too."""
        return self.books.rows_made

    @property
    def shard_numbers(self) -> tuple[int, ...]:
        """The shards that rows of the window come from; all earlier ones may be deleted."""
        return self.books.shard_numbers

    def draw(self, batch_size: int, *, result_mix: float) -> Batch:
        """Rows drawn uniformly, each turned by a random symmetry; see `sample`."""
        drawn = torch.rand(batch_size, dtype=torch.float64, device=self.device)
        back = (drawn * self._size).long()
        index = (self._made - 1 - back) % self.config.window_max
        turns = torch.randint(len(self._cells), (batch_size,), device=self.device)
        policy, legal = self._policies(index, turns)
        return Batch(
            planes=self._planes(index, turns),
            policy=policy,
            legal=legal,
            wdl=self._values(index, result_mix),
        )

    def statistics(self, iteration: int) -> WindowStatistics:
        """Figures of the window, seen in `iteration`; waits for the device."""
        size, made = int(self._size), int(self._made)
        if not size:
            return WindowStatistics(0, made, mean_age=0.0, duplicate_share=0.0, policy_entropy=0.0)
        index = (made - 1 - torch.arange(size, device=self.device)) % self.config.window_max
        return WindowStatistics(
            rows=size,
            rows_made=made,
            mean_age=iteration - self._mean_birth(index),
            duplicate_share=1.0 - len(torch.unique(self._hashes(index))) / size,
            policy_entropy=self._entropy(index),
        )

    def _capacity(self, made: Tensor) -> Tensor:
        """`ReplayConfig.capacity`, on the device."""
        grown = (self.config.window_growth * made.double()).long()
        return grown.clamp(self.config.window_min, self.config.window_max)

    def _planes(self, index: Tensor, turns: Tensor) -> Tensor:
        """Planes [B, P, H, W] of the rows, turned."""
        shape = self.game.planes_shape
        planes = torch.zeros((len(index), *shape), device=self.device)
        write = _planes_kernel(self.game.rules)
        launch(write, len(index), self._rows.states, view(index), view(planes))
        order = self._cells[turns][:, None].expand(-1, shape[0], -1)
        return planes.flatten(2).gather(2, order).view(planes.shape)

    def _policies(self, index: Tensor, turns: Tensor) -> tuple[Tensor, Tensor]:
        """Policies and legal actions [B, A] of the rows, turned."""
        is_legal = self._is_legal(index)
        actions = as_tensor(self._rows.actions)[index].long().where(is_legal, 0)
        turned = self._new_actions[turns].gather(1, actions)
        shares = as_tensor(self._rows.policy)[index] * is_legal
        blank = torch.zeros((len(index), self.game.num_actions), device=self.device)
        policy = blank.scatter_add(1, turned, shares)
        legal = blank.scatter_add(1, turned, is_legal.float()) > 0
        return policy / policy.sum(1, keepdim=True), legal

    def _is_legal(self, index: Tensor) -> Tensor:
        """[B, L] which entries of the rows' policies are there."""
        places = torch.arange(self.game.max_legal, device=self.device)
        return places < as_tensor(self._rows.num_legal)[index][:, None]

    def _values(self, index: Tensor, result_mix: float) -> Tensor:
        """[B, 3] win, draw and loss: the results' share `result_mix`, the rest by the search."""
        value, draw = as_tensor(self._rows.values)[index].unbind(1)
        searched = torch.stack([(1 - draw + value) / 2, draw, (1 - draw - value) / 2], 1)
        searched = searched.clamp_min(0)
        searched = searched / searched.sum(1, keepdim=True)
        outcome = 1 - as_tensor(self._rows.results)[index].long()
        played = torch.nn.functional.one_hot(outcome, 3)
        return result_mix * played + (1 - result_mix) * searched

    def _hashes(self, index: Tensor) -> Tensor:
        size = self.game.state_dtype.itemsize
        raw = as_tensor(self._rows.states.view(np.dtype(np.uint8)).reshape(-1, size))
        hashes = torch.zeros(len(index), dtype=torch.int64, device=self.device)
        for column in raw[index].long().unbind(1):
            hashes = (hashes ^ column) * HASH_MULTIPLIER
            hashes = hashes ^ (hashes >> 29)
        return hashes

    def _mean_birth(self, index: Tensor) -> float:
        return float(self._born[index].double().mean())

    def _entropy(self, index: Tensor) -> float:
        policy = as_tensor(self._rows.policy)[index] * self._is_legal(index)
        return float(torch.special.entr(policy).sum(1).mean())


@cache
def _append() -> Any:
    @kernel
    def append(rows, count, ring, made, born, iteration):  # type: ignore[no-untyped-def]
        source = cuda.grid(1)
        room = ring.results.shape[0]
        if count[0] - room <= source < count[0]:
            target = (made[0] + source) % room
            born[target] = iteration
            ring.states[target] = rows.states[source]
            ring.results[target] = rows.results[source]
            ring.values[target, 0] = rows.values[source, 0]
            ring.values[target, 1] = rows.values[source, 1]
            ring.num_legal[target] = rows.num_legal[source]
            for i in range(rows.num_legal[source]):
                ring.actions[target, i] = rows.actions[source, i]
                ring.policy[target, i] = rows.policy[source, i]

    return append


@cache
def _planes_kernel(rules: ModuleType) -> Any:
    @kernel
    def write_planes(states, index, planes):  # type: ignore[no-untyped-def]
        row = cuda.grid(1)
        if row < index.shape[0]:
            rules.planes(states[index[row]], planes[row])

    return write_planes
