"""Where a search runs: beside its evaluator, on the CPU or on a GPU."""

from typing import Any, Protocol

from rookery.games import Game, Repetitions, States
from rookery.search.config import SearchConfig
from rookery.search.cpu_search import CpuSearch
from rookery.search.decisions import Decisions
from rookery.search.evaluators import DeviceEvaluator, Evaluator
from rookery.search.gpu_search import GpuSearch


class Search(Protocol):
    """G searches, wherever they run."""

    @property
    def roots(self) -> States:
        """[G] the positions to search, for the caller to fill; none may be over."""

    @property
    def repetitions(self) -> Repetitions:
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
) -> Search:
    """A search where the evaluator is."""
    kind: Any = GpuSearch if isinstance(evaluator, DeviceEvaluator) else CpuSearch
    search: Search = kind(
        game,
        evaluator,
        config=config,
        num_games=num_games,
        max_simulations=max_simulations,
        explore=explore,
        seed=seed,
    )
    return search
