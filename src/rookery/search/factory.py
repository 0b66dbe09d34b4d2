"""Choose the search that runs on the device of an evaluator."""

from typing import TypedDict, Unpack

from rookery.games import Game
from rookery.search.config import SearchConfig
from rookery.search.cpu_search import CpuSearch
from rookery.search.gpu_search import GpuSearch, GpuTrees
from rookery.search.protocols import DeviceEvaluator, Evaluator, Search


class SearchOptions(TypedDict):
    """Keyword arguments of every batched search."""

    config: SearchConfig
    num_games: int
    """Number of trees, G."""
    max_simulations: int
    """Largest number of simulations of one `run`; the size of the trees follows from it."""
    explore: bool
    """Add noise at the root, as in self-play."""
    seed: int
    """Seed of that noise."""


def new_search(
    game: Game, evaluator: Evaluator | DeviceEvaluator, **options: Unpack[SearchOptions]
) -> Search:
    """Return a batched search on the device of `evaluator`."""
    if isinstance(evaluator, DeviceEvaluator):
        return GpuSearch(GpuTrees(game, evaluator, **options))
    return CpuSearch(game, evaluator, **options)
