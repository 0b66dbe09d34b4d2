"""The kernels of self-play and the types of their arguments, found without compiling them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from types import ModuleType
from typing import Any

import numba
import numpy as np

from rookery.games import Game
from rookery.search import SearchConfig, bind_cpu_search
from rookery.selfplay.config import SelfPlayConfig
from rookery.selfplay.cpu import CpuSelfPlay
from rookery.selfplay.kernels import bind

Calls = list[tuple[Any, tuple[Any, ...]]]
"""Kernels, and the types of the arguments with which they were called."""


def kernel_calls(game: Game, config: SelfPlayConfig, search: SearchConfig) -> Calls:
    """Return the kernels of self-play in the order of a move, called by games that do nothing."""
    outputs = np.zeros((2, game.num_actions), np.float32), np.zeros((2, 3), np.float32)
    searching = bind_cpu_search(game.rules, search.method, proves_leaves=search.proves_leaves)
    with _noted_calls((searching, bind(game.rules))) as calls:
        selfplay = CpuSelfPlay(
            game,
            lambda planes: outputs,
            config=replace(config, games=2),
            search=search,
            seed=0,
        )
        selfplay.play(1, progress=0.0, iteration=0)
    return calls


@contextmanager
def _noted_calls(modules: Sequence[ModuleType]) -> Iterator[Calls]:
    """Have the kernels of modules note the types of their arguments instead of running."""
    calls: Calls = []

    def note(kernel: Any, *arguments: Any) -> None:
        calls.append((kernel, tuple(map(numba.typeof, arguments))))

    kept = [dict(vars(module)) for module in modules]
    for module, names in zip(modules, kept, strict=True):
        kernels = {name: each for name, each in names.items() if hasattr(each, "py_func")}
        vars(module).update({name: partial(note, kernel) for name, kernel in kernels.items()})
    try:
        yield calls
    finally:
        for module, names in zip(modules, kept, strict=True):
            vars(module).update(names)
