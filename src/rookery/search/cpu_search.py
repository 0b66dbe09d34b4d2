"""Searching many positions at once: what self-play and arena call."""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rookery.base import seeds
from rookery.games import Game, Repetitions, States
from rookery.search import cpu_kernels
from rookery.search.config import SearchConfig
from rookery.search.decisions import Decisions
from rookery.search.evaluators import Evaluator
from rookery.search.gumbel import visit_table
from rookery.search.tree import new_tree


class CpuSearch:
    """G trees that grow in step; every wave is one call of the evaluator."""

    def __init__(
        self,
        game: Game,
        evaluator: Evaluator,
        *,
        config: SearchConfig,
        num_games: int,
        max_simulations: int,
        explore: bool,
        seed: int,
    ) -> None:
        self.game = game
        self.evaluator = evaluator
        self.config = config
        self.max_simulations = max_simulations
        self.tree = new_tree(game, num_games, max_simulations)
        self.tree.streams[:] = seeds(num_games, seed, "search")
        self.evaluations = 0
        self._settings = config.settings(explore=explore)
        self._finds_ends = config.finds_ends(explore=explore)
        self._kernels = cpu_kernels.bind(game.rules, config.method)
        self._planes = np.zeros((num_games, *game.planes_shape), np.float32)

    @property
    def roots(self) -> States:
        """[G] the positions to search, for the caller to fill; none may be over."""
        return self.tree.states[:, 0]

    @property
    def repetitions(self) -> Repetitions:
        """What stood before the roots, for the caller to fill where positions may repeat."""
        return Repetitions(self.tree.past, self.tree.past_counts)

    def run(self, simulations: int, num_games: int | None = None) -> Decisions:
        """Search the first `num_games` roots (all by default), `simulations` each."""
        self.begin(simulations, num_games)
        return self.finish(simulations, num_games)

    def begin(self, simulations: int, num_games: int | None = None) -> None:
        """Plant the trees, evaluate and expand their roots; look for moves that end the game."""
        assert simulations <= self.max_simulations
        games = np.arange(num_games or len(self.tree.searches))
        self._kernels.begin(self.tree, simulations, len(games))
        self._evaluate(games)
        if self._finds_ends:
            self._kernels.find_ends(self.tree, len(games))

    def finish(self, simulations: int, num_games: int | None = None) -> Decisions:
        """Run the simulations that `begin` owes, and decide."""
        count = num_games or len(self.tree.searches)
        table = _table(self.config.considered, simulations)
        needs_net = np.zeros(count, np.bool_)
        while True:
            self._kernels.descend(self.tree, self._settings, table, needs_net)
            games = np.flatnonzero(needs_net)
            if not len(games):
                break
            self._evaluate(games)
        return self._decide(count)

    def _evaluate(self, games: NDArray[Any]) -> None:
        planes = self._planes[: len(games)]
        self._kernels.gather(self.tree, games, planes)
        logits, wdl = self.evaluator(planes)
        self._kernels.ascend(self.tree, self._settings, games, logits, wdl)
        self.evaluations += len(games)

    def _decide(self, count: int) -> Decisions:
        decisions = Decisions(
            actions=np.zeros(count, np.int32),
            legal_policy=np.zeros((count, self.game.max_legal), np.float32),
            values=np.zeros((count, 2), np.float32),
            policy=np.zeros((count, self.game.num_actions), np.float32),
            visits=np.zeros((count, self.game.num_actions), np.int32),
        )
        out = (decisions.actions, decisions.legal_policy, decisions.values)
        self._kernels.decide(self.tree, self._settings, count, *out)
        by_action = (decisions.policy, decisions.visits)
        self._kernels.spread(self.tree, count, decisions.legal_policy, *by_action)
        return decisions


@cache
def _table(considered: int, simulations: int) -> NDArray[np.int32]:
    return visit_table(considered, simulations)
