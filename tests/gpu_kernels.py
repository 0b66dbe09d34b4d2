"""Run the GPU kernels of a game under compute-sanitizer: `make sanitize`.

`gpu_kernels.py GAME [overflow]`, with PYTORCH_NO_CUDA_MEMORY_CACHING=1, so that every array is an
allocation of its own and a write beside it is seen. CUDA graphs need torch's memory pool, so the
same kernels are launched one by one here. `overflow` leaves the trees too few edges, as a proof
that the sanitizer sees a write out of bounds.
"""

import os
import sys
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np
import torch

from devices import Linear
from rookery.games import Game, load_game
from rookery.gpu import zeros
from rookery.replay import ReplayConfig, Window
from rookery.search import SearchConfig
from rookery.search.gpu_search import GpuSearch, GpuTrees
from rookery.selfplay import GpuSelfPlay, SelfPlayConfig
from sample_positions import sample_positions
from slow_replay import random_rows

DEVICE = torch.device("cuda", 0)
METHODS = ("gumbel", "puct")


class Eager:
    """A captured graph that is none: its function is called each time."""

    calls = 0

    def __init__(self, function: Callable[[], None], device: torch.device) -> None:
        self._function = function

    def __call__(self) -> None:
        self._function()


def search_all(game: Game, roots: Any, *, simulations: int, is_short: bool = False) -> None:
    """Search `roots` together by both methods, with and without noise."""
    for method in METHODS:
        for explore in (False, True):
            trees = GpuTrees(
                game,
                Linear(game.planes_shape, game.num_actions).on(DEVICE),
                config=SearchConfig(method=method),
                num_games=len(roots),
                max_simulations=simulations,
                explore=explore,
                seed=1,
            )
            if is_short:
                edges = trees.tree.edges
                short = zeros(DEVICE, edges.dtype, len(roots), game.max_legal - 1)
                trees.tree = trees.tree._replace(edges=short)
            search = GpuSearch(trees)
            search.roots[:] = roots
            search.run(simulations)


def play_games(game: Game) -> None:
    """Play games to their end, some of which find no room in the window of finished rows."""
    for method in METHODS:
        config = SelfPlayConfig(games=33, simulations="4", opening_share=0.5, opening_plies=6)
        selfplay = GpuSelfPlay(
            game,
            Linear(game.planes_shape, game.num_actions).on(DEVICE),
            config=config,
            search=SearchConfig(method=method),
            moves=4,
            seed=1,
        )
        for iteration in range(3):
            selfplay.finish(selfplay.start(12, progress=0.5, iteration=iteration))
        selfplay.restore(selfplay.state())


def build_batches(game: Game) -> None:
    """Fill a window beyond its capacity and build batches from it."""
    window = Window(game, ReplayConfig(window_min=50, window_max=50), DEVICE)
    for seed in range(3):
        window.add(random_rows(game, 4, seed, max_plies=40))
    offsets = torch.arange(70, device=DEVICE)
    for first in (0, 10**12):
        card = torch.tensor([first], device=DEVICE)
        window.batch(card, offsets, stream=np.uint64(5), result_mix=0.3)


def main() -> None:
    """Exercise every kernel of the game named on the command line."""
    assert os.environ.get("PYTORCH_NO_CUDA_MEMORY_CACHING") == "1"
    name, *flags = sys.argv[1:]
    game = load_game(name)
    roots = sample_positions(game)
    with (
        patch.object(sys.modules["rookery.search.gpu_search"], "Graph", Eager),
        patch("rookery.selfplay.gpu.Graph", Eager),
    ):
        if "overflow" in flags:
            search_all(game, roots[:1], simulations=1, is_short=True)
            return
        for simulations in (1, 2, 24):
            search_all(game, roots[:1], simulations=simulations)  # its rows end at the allocation's
            search_all(game, roots, simulations=simulations)
        play_games(game)
        build_batches(game)
        torch.cuda.synchronize()


if __name__ == "__main__":
    main()
