"""The kernels that a run needs, each as a function that compiles it, in the order of their use.

They are found by games that do nothing: a kernel is compiled for the types of its arguments.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rookery.games import Game
from rookery.gpu import cuda, noted_launches
from rookery.replay import ReplayConfig, Window, new_rows
from rookery.search import new_search
from rookery.selfplay import GpuSelfPlay, kernel_calls
from rookery.training.config import Config

Compile = Callable[[], object]
Work = list[Compile]
CPU = torch.device("cpu")
GAMES, ROWS = 2, 8
"""Enough that no axis of an array has length one."""


def kernels_of_run(game: Game, config: Config, device: torch.device) -> Work:
    """Return the kernels of self-play, learning, and on a GPU of measurements."""
    if device.type == "cuda":
        return list(_gpu_kernels(game, config, device))
    calls = kernel_calls(game, config.selfplay, config.search)
    return [*(partial(kernel.compile, types) for kernel, types in calls), partial(_batch, game)]


def _gpu_kernels(game: Game, config: Config, device: torch.device) -> Iterator[Compile]:
    """Yield each kernel once, with all types: only one process changes its index on disk."""
    variants = defaultdict[Any, dict[Any, None]](dict)
    with noted_launches() as launches:
        for dtype in (torch.float16, torch.float32):  # of logits: known when a backend is chosen
            _play(game, config, _Zeros(game.num_actions, dtype))
        _batch(game)
        _search(game, config, _Zeros(game.num_actions, torch.float16))
    for kernel, types in launches:
        variants[kernel][types] = None
    for kernel, found in variants.items():
        yield partial(_compile_on, device, kernel, list(found))


def _compile_on(device: torch.device, kernel: Any, variants: list[Any]) -> None:
    cuda.select_device(device.index or 0)
    for types in variants:
        kernel.compile(types)


def _play(game: Game, config: Config, evaluator: "_Zeros") -> None:
    selfplay = GpuSelfPlay(
        game,
        evaluator,
        config=replace(config.selfplay, games=GAMES),
        search=config.search,
        moves=1,
        seed=0,
    )
    selfplay.start(1, progress=0.0, iteration=0)


def _batch(game: Game) -> None:
    window = Window(game, ReplayConfig(window_min=ROWS, window_max=ROWS), CPU)
    rows = new_rows(game, ROWS)
    rows.num_legal[:], rows.policy[:] = 1, 1
    window.add(rows)
    window.batch(np.zeros(1, np.int64), np.arange(ROWS), stream=np.uint64(1), result_mix=0.5)


def _search(game: Game, config: Config, evaluator: "_Zeros") -> None:
    options: Any = {"max_simulations": 2, "explore": False, "seed": 0}
    new_search(game, evaluator, config=config.search, num_games=GAMES, **options).run(1)


class _Zeros:
    """An evaluator that returns zeros."""

    def __init__(self, num_actions: int, dtype: torch.dtype) -> None:
        self.device = CPU
        self.cells: Tensor | None = None
        self._num_actions, self._dtype = num_actions, dtype

    def forward(self, planes: Tensor, /) -> tuple[Tensor, Tensor]:
        """Return logits [G, A] and probabilities [G, 3]."""
        logits = torch.zeros((len(planes), self._num_actions), dtype=self._dtype)
        return logits, torch.zeros((len(planes), 3))

    def adapt(self, planes: Tensor, /) -> None:
        """Do nothing."""
