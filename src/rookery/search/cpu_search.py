"""Batched search on the CPU, with one thread per core."""

from functools import cache
from types import ModuleType
from typing import Any, Unpack

import numba
import numpy as np
from numpy.typing import NDArray

from rookery.base import compiled, namespace, parallel, seeds
from rookery.games import Game, Repetitions, States
from rookery.search import simulate
from rookery.search.config import SearchOptions
from rookery.search.decisions import DecisionArrays, Decisions, scatter_by_action
from rookery.search.follow import follow_move
from rookery.search.gumbel import visit_table
from rookery.search.protocols import Evaluator
from rookery.search.tree import new_tree

NO_LIMIT = np.int64(2**62)
NO_ACTION = -1


@cache
def bind(rules: ModuleType, method: str, *, proves_leaves: bool) -> ModuleType:
    """Return the steps of `simulate.bind` as loops over games.

    The steps of a simulation run on all threads. Those of a move run on one: they take little time,
    and parallel loops take seconds to compile. The casts give every index one type, so that each
    function is compiled once.
    """
    one = simulate.bind(rules, method, proves_leaves=proves_leaves)

    @compiled
    def follow(tree, actions):  # type: ignore[no-untyped-def]
        for g in range(actions.shape[0]):
            if actions[g] != NO_ACTION:
                follow_move(tree, np.int64(g), np.int64(actions[g]))

    @compiled
    def begin(tree, settings, simulations, num_games):  # type: ignore[no-untyped-def]
        for g in range(num_games):
            one.begin(tree, settings, np.int64(simulations), np.int64(g))

    @parallel
    def descend(tree, settings, table, needs_net):  # type: ignore[no-untyped-def]
        for g in numba.prange(needs_net.shape[0]):
            needs_net[g] = one.descend(tree, settings, table, NO_LIMIT, np.int64(g))

    @parallel
    def write_planes(tree, games, planes):  # type: ignore[no-untyped-def]
        for row in numba.prange(games.shape[0]):
            one.write_planes(tree, np.int64(games[row]), planes[row])

    @parallel
    def ascend(tree, settings, games, logits, wdl):  # type: ignore[no-untyped-def]
        for row in numba.prange(games.shape[0]):
            g = np.int64(games[row])
            one.ascend(tree, settings, g, logits[row], wdl[row])

    @compiled
    def prove_terminal_moves(tree, num_games):  # type: ignore[no-untyped-def]
        for g in range(num_games):
            one.prove_terminal_moves(tree, np.int64(g))

    @compiled
    def decide(tree, settings, num_games, out, policy, visits):  # type: ignore[no-untyped-def]
        for g in range(num_games):
            one.decide(tree, settings, np.int64(g), out)
            scatter_by_action(tree, np.int64(g), out.policy, policy, visits)

    functions = [follow, begin, descend, write_planes, ascend, prove_terminal_moves, decide]
    return namespace(f"{rules.__name__}.search.{method}.{proves_leaves}.cpu", functions)


class CpuSearch:
    """G trees that grow together: one step is one simulation per tree and one evaluator call."""

    def __init__(
        self,
        game: Game,
        evaluator: Evaluator,
        *,
        is_followed: bool = False,
        **options: Unpack[SearchOptions],
    ) -> None:
        """`is_followed` says that `follow` will be called."""
        self.game, self.evaluator = game, evaluator
        self.evaluations = self.batches = 0
        """Positions evaluated by the network so far, and calls of it."""
        self.config, num_games = options["config"], options["num_games"]
        self.max_simulations = options["max_simulations"]
        self.tree = new_tree(
            game,
            num_games,
            self.max_simulations,
            proves_leaves=self.config.proves_leaves,
            is_followed=is_followed,
        )
        self.tree.streams[:] = seeds(num_games, options["seed"], "search")
        self._settings = self.config.settings(explore=options["explore"])
        self._proves_terminal_moves = self.config.prove and not options["explore"]
        self._kernels = bind(
            game.rules, self.config.method, proves_leaves=self.config.proves_leaves
        )
        self._planes = np.zeros((num_games, *game.planes_shape), np.float32)

    @property
    def roots(self) -> States:
        """[G] positions to search, written by the caller; none may be terminal."""
        return self.tree.states[:, 0]

    @property
    def repetitions(self) -> Repetitions:
        """Positions played before the roots, written by the caller if positions can repeat."""
        return Repetitions(self.tree.past, self.tree.past_counts)

    def follow(self, actions: NDArray[np.int32]) -> None:
        """Keep the evaluations below a move of each root [G] for the next `run`.

        The caller writes the roots after these moves; NO_ACTION stands for any other root.
        """
        self._kernels.follow(self.tree, actions)

    def forget(self) -> None:
        """Drop what `follow` has kept, because the network has changed."""
        self.tree.searches["is_followed"] = 0

    def run(self, simulations: int, num_games: int | None = None) -> Decisions:
        """Search the first `num_games` roots (all by default) with `simulations` each."""
        self.begin(simulations, num_games)
        return self.finish(simulations, num_games)

    def begin(self, simulations: int, num_games: int | None = None) -> None:
        """Empty the trees, except those followed, then evaluate and expand the roots."""
        assert simulations <= self.max_simulations
        count = num_games or len(self.tree.searches)
        self._kernels.begin(self.tree, self._settings, simulations, count)
        if len(new := np.flatnonzero(self.tree.nodes["num_edges"][:count, 0] == 0)):
            self._evaluate(new)
        if self._proves_terminal_moves:
            self._kernels.prove_terminal_moves(self.tree, count)

    def finish(self, simulations: int, num_games: int | None = None) -> Decisions:
        """Run the simulations that `begin` has scheduled, and decide."""
        count = num_games or len(self.tree.searches)
        table = visit_table(self.config.considered, simulations)
        needs_net = np.zeros(count, np.bool_)
        while True:
            self._kernels.descend(self.tree, self._settings, table, needs_net)
            games = np.flatnonzero(needs_net)
            if not len(games):
                return self._decide(count)
            self._evaluate(games)

    def _evaluate(self, games: NDArray[Any]) -> None:
        """Evaluate the leaves of `games`, expand them and back up their values."""
        planes = self._planes[: len(games)]
        self._kernels.write_planes(self.tree, games, planes)
        logits, wdl = self.evaluator(planes)
        self._kernels.ascend(self.tree, self._settings, games, logits, wdl)
        self.evaluations += len(games)
        self.batches += 1

    def _decide(self, count: int) -> Decisions:
        actions, values = np.zeros(count, np.int32), np.zeros((count, 2), np.float32)
        out = DecisionArrays(actions, np.zeros((count, self.game.max_legal), np.float32), values)
        policy = np.zeros((count, self.game.num_actions), np.float32)
        visits = np.zeros((count, self.game.num_actions), np.int32)
        self._kernels.decide(self.tree, self._settings, count, out, policy, visits)
        return Decisions(*out, policy, visits)
