"""Compile all kernels of a game for a GPU that is not present: `compile_kernels.py GAME DTYPE`.

Needs numba-cuda and the compilers of the CUDA toolkit, but no driver. The simulator interprets
kernels and accepts code that does not compile.
"""

import sys
from functools import partial
from typing import Any

import numba
import numpy as np
import torch
from torch import Tensor

import rookery.gpu
from rookery.gpu import cuda, kernels, view

COMPUTE_CAPABILITY = (9, 0)
done: set[Any] = set()


class FakeGpu:
    """The part of a device that the compiler asks for."""

    compute_capability = COMPUTE_CAPABILITY


class FakeNet:
    """An evaluator that returns zeros; in float16 with a table of logit columns."""

    device = torch.device("cpu")

    def __init__(self, num_actions: int, dtype: torch.dtype) -> None:
        self._actions, self._dtype = num_actions, dtype
        self.cells = None if dtype == torch.float32 else torch.arange(num_actions)

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        count = len(planes)
        return torch.zeros((count, self._actions), dtype=self._dtype), torch.zeros((count, 3))

    def adapt(self, planes: Tensor) -> None:
        pass


def compile_kernel(compiled: Any, count: int, *arguments: Any, threads: int = 0) -> None:
    """Compile what `launch` would compile for these arguments, and print its name."""
    types = tuple(numba.typeof(argument) for argument in arguments)
    if (compiled, types) not in done:
        done.add((compiled, types))
        cuda.compile_ptx(compiled.py_func, types, cc=COMPUTE_CAPABILITY)
        print(compiled.py_func.__name__)


def replace_launches() -> None:
    """Compile kernels instead of launching them, without a device."""
    for module in list(sys.modules.values()):
        if module.__name__.startswith("numba") and hasattr(module, "get_current_device"):
            vars(module)["get_current_device"] = lambda: FakeGpu
    kernels.launch = rookery.gpu.launch = compile_kernel


def main(name: str, dtype: str) -> None:
    replace_launches()
    from rookery.games import load_game
    from rookery.replay import ReplayConfig, Window, batch, new_rows
    from rookery.search import SearchConfig, new_search
    from rookery.selfplay import GpuSelfPlay, SelfPlayConfig

    game = load_game(name)
    net = FakeNet(game.num_actions, getattr(torch, dtype))
    config, search = SelfPlayConfig(games=64, simulations="4"), SearchConfig()
    selfplay = GpuSelfPlay(game, net, config=config, search=search, moves=4, seed=0)
    selfplay.restore(selfplay.state())
    selfplay.start(1, progress=0.0, iteration=0)
    vars(batch)["_on_cpu"] = lambda rules: partial(compile_kernel, batch._on_gpu(rules), 1)
    window = Window(game, ReplayConfig(window_min=64, window_max=128))
    window.add(new_rows(game, 8))
    window.batch(np.zeros(1, np.int64), np.arange(8), stream=np.uint64(1), result_mix=0.5)
    compile_kernel(kernels.transpose_tile, 1, *(view(torch.zeros((2, 2))) for _ in range(2)))
    for method in ("gumbel", "puct"):
        options: Any = {"num_games": 8, "max_simulations": 4, "explore": False, "seed": 0}
        new_search(game, net, config=SearchConfig(method=method), **options).run(4)
    compile_neurons()


def compile_neurons() -> None:
    """Compile the kernels of spiking networks, for inference and training."""
    from rookery.nets import lif, lif_kernels

    firing = lif.Firing(steps=2, decay=0.5, threshold=1.0, surrogate="arctan")
    bias, half = torch.zeros(8), torch.zeros((4, 8, 3, 3), dtype=torch.float16)
    lif_kernels.fire(half, bias, firing, boards=2)
    lif_kernels.add_and_fire(half[:2], half, bias, firing)
    lif_kernels.add_and_average(half, half, bias, firing)
    for dtype in lif_kernels.BITS:
        currents = torch.zeros((4, 8), dtype=dtype)
        _, membranes = lif_kernels.fire_with_membranes(currents, firing)
        lif_kernels.gradients_of_currents(currents, membranes, firing, slope=1.0)


if __name__ == "__main__":
    main(*sys.argv[1:])
