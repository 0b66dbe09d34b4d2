"""Compile all kernels of a game for a GPU that is not here: `compile_kernels.py GAME DTYPE`.

Needs numba-cuda with the compilers of CUDA's toolkit, but no driver. The simulator interprets
kernels, so that what does not compile passes there.
"""

import sys
from typing import Any

import numba
import torch
from torch import Tensor

import rookery.gpu
from rookery.gpu import kernels as gpu

TARGET = (9, 0)
done: set[Any] = set()


class Nobody:
    """A GPU of that capability."""

    compute_capability = TARGET


def compile_it(compiled: Any, count: int, *arguments: Any) -> None:
    """What `launch` would compile for these arguments."""
    types = tuple(numba.typeof(argument) for argument in arguments)
    if (compiled, types) not in done:
        done.add((compiled, types))
        gpu.cuda.compile_ptx(compiled.py_func, types, cc=TARGET)
        print(compiled.py_func.__name__)


def pretend() -> None:
    """Let functions that kernels call be compiled, and kernels not be launched."""
    for module in list(sys.modules.values()):
        if module.__name__.startswith("numba") and hasattr(module, "get_current_device"):
            module.get_current_device = lambda: Nobody
    gpu.launch = rookery.gpu.launch = compile_it


class Blank:
    """A net whose answers mean nothing; those in float16 lie in order of no action."""

    device = torch.device("cpu")

    def __init__(self, num_actions: int, dtype: torch.dtype) -> None:
        self._actions, self._dtype = num_actions, dtype
        self.cells = None if dtype == torch.float32 else torch.arange(num_actions)

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        count = len(planes)
        return torch.zeros((count, self._actions), dtype=self._dtype), torch.zeros((count, 3))

    def adapt(self, boards: Tensor) -> None:
        pass


def main(name: str, dtype: str) -> None:
    pretend()
    from rookery.games import load_game
    from rookery.replay import DeviceWindow, ReplayConfig
    from rookery.search import SearchConfig, new_search
    from rookery.selfplay import DeviceSelfPlay, SelfPlayConfig

    rules = load_game(name)
    net = Blank(rules.num_actions, getattr(torch, dtype))
    params, search = SelfPlayConfig(games=64, simulations="4"), SearchConfig()
    selfplay = DeviceSelfPlay(rules, net, config=params, search=search, moves=4, seed=0)
    selfplay.restore(selfplay.state())
    selfplay.play(1, progress=0.0)
    harvest = selfplay.collect()
    window = DeviceWindow(rules, ReplayConfig(window_min=64, window_max=128), net.device)
    window.append(harvest.rows, harvest.used[1:], iteration=0)
    window.draw(8, result_mix=0.5)
    compile_it(gpu.transpose_tile, 1, *(gpu.view(torch.zeros((2, 2))) for _ in range(2)))
    for method in ("gumbel", "puct"):
        options = {"num_games": 8, "max_simulations": 4, "explore": False, "seed": 0}
        new_search(rules, net, config=SearchConfig(method=method), **options).run(4)


if __name__ == "__main__":
    main(*sys.argv[1:])
