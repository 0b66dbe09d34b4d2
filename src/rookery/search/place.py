"""Where a search runs: beside its evaluator, on the CPU or on a GPU."""

from typing import Any, Protocol

from rookery.games import Game, Memory, States
from rookery.search.batch import Search
from rookery.search.cuda import CudaSearch
from rookery.search.decisions import Decisions
from rookery.search.evaluators import DeviceEvaluator, Evaluator
from rookery.search.settings import SearchConfig


class AnySearch(Protocol):
    """G searches, wherever they run."""

    @property
    def roots(self) -> States:
        """[G] the positions to search, for the caller to fill; none may be over."""

    @property
    def memory(self) -> Memory:
        """What stood before the roots, for the caller to fill where positions may repeat."""

    @property
    def evaluations(self) -> int:
        """Leaves that the net was asked about so far."""

    def run(self, simulations: int, num_games: int | None = None) -> Decisions:
        """Search the first `num_games` roots (all by default), `simulations` each."""


def new_search(
    game: Game,
    evaluator: Evaluator | DeviceEvaluator,
    *,
    config: SearchConfig,
    num_games: int,
    max_simulations: int,
    explore: bool,
    seed: int,
) -> AnySearch:
    """A search where the evaluator is."""
    kind: Any = CudaSearch if isinstance(evaluator, DeviceEvaluator) else Search
    search: AnySearch = kind(
        game,
        evaluator,
        config=config,
        num_games=num_games,
        max_simulations=max_simulations,
        explore=explore,
        seed=seed,
    )
    return search
