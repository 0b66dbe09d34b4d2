"""The search's scalar functions for all games at once, on a GPU: a thread a game.

Trees, positions and planes stay in the device's memory. A wave (every tree descends to a leaf,
one call of the net, every tree ascends) is one captured graph; the host only replays it.
"""

from functools import cache
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import torch

from rookery.base import seeds
from rookery.games import Game, States, new_repetitions
from rookery.gpu import (
    Graph,
    as_tensor,
    copy_in,
    cuda,
    kernel,
    launch,
    to_host,
    transpose,
    view,
    zeros,
)
from rookery.search import simulate
from rookery.search.config import SearchConfig
from rookery.search.decide import scatter_by_action
from rookery.search.decisions import Decisions
from rookery.search.evaluators import DeviceEvaluator
from rookery.search.gumbel import visit_table
from rookery.search.tree import Tree, layout

FREE_SIMULATIONS = np.int64(6)
"""Simulations of a game in one wave: one that needs the net, after a few that do not.

A wave takes as long as its slowest game, so that none may run on for ever.
"""


@cache
def bind(rules: ModuleType, method: str) -> SimpleNamespace:
    """The steps of `simulate.bind` as kernels, for one game, one way."""
    one = simulate.bind(rules, method)

    @kernel
    def begin(tree, simulations, num_games):  # type: ignore[no-untyped-def]
        g = cuda.grid(1)
        if g < num_games:
            one.begin(tree, np.int64(simulations), np.int64(g))
        elif g < tree.searches.shape[0]:
            tree.searches[g].simulations_left = 0

    @kernel
    def descend(tree, settings, table, needs_net):  # type: ignore[no-untyped-def]
        g = cuda.grid(1)
        if g < needs_net.shape[0]:
            needs_net[g] = one.descend(tree, settings, table, FREE_SIMULATIONS, np.int64(g))

    @kernel
    def gather(tree, planes):  # type: ignore[no-untyped-def]
        g = cuda.grid(1)
        if g < planes.shape[3]:
            one.write_planes(tree, np.int64(g), planes[:, :, :, g])

    @kernel
    def ascend(tree, settings, needs_net, logits, wdl, evaluations):  # type: ignore[no-untyped-def]
        g = cuda.grid(1)
        if g < needs_net.shape[0] and needs_net[g]:
            one.ascend(tree, settings, np.int64(g), logits[g], wdl[g])
            evaluations[g] += 1

    @kernel
    def find_ends(tree, num_games):  # type: ignore[no-untyped-def]
        g = cuda.grid(1)
        if g < num_games:
            one.find_ends(tree, np.int64(g))

    @kernel
    def decide_all(  # type: ignore[no-untyped-def]
        tree, settings, num_games, actions, policy, values, by_action, visits
    ):
        g = cuda.grid(1)
        if g < num_games:
            one.decide(tree, settings, np.int64(g), actions, policy, values)
            scatter_by_action(tree, np.int64(g), policy, by_action, visits)

    return SimpleNamespace(
        begin=begin,
        descend=descend,
        gather=gather,
        ascend=ascend,
        find_ends=find_ends,
        decide=decide_all,
    )


class GpuTrees:
    """G trees on a device, and the steps of a wave over them."""

    def __init__(
        self,
        game: Game,
        evaluator: DeviceEvaluator,
        *,
        config: SearchConfig,
        explore: bool,
        num_games: int,
        max_simulations: int,
        seed: int,
    ) -> None:
        self.num_games = num_games
        self.settings = config.settings(explore=explore)
        self.device = device = evaluator.device
        self._evaluator = evaluator
        arrays = layout(game, num_games, max_simulations)
        self.tree = Tree(*(zeros(device, dtype, *shape) for dtype, shape in arrays))
        copy_in(self.tree.streams, seeds(num_games, seed, "search"))
        cells = evaluator.cells
        in_order = torch.arange(game.num_actions) if cells is None else cells
        as_tensor(self.tree.cells).copy_(in_order)
        self.kernels = bind(game.rules, config.method)
        planes, height, width = game.planes_shape
        self._written = torch.zeros((height, width, planes, num_games), device=device)
        """Planes as threads write them: neighbours, neighbouring words."""
        self._planes = torch.zeros((num_games, height, width, planes), device=device)
        """The same as the net reads them."""
        self.needs_net = zeros(device, np.bool_, num_games)
        self.evaluations = torch.zeros(num_games, dtype=torch.int64, device=device)
        """[G] leaves that the net was asked about so far."""
        self.answers = (
            zeros(device, np.int32, num_games),
            zeros(device, np.float32, num_games, game.max_legal),
            zeros(device, np.float32, num_games, 2),
        )
        """Actions, policies over the legal moves, values: see `Decisions`."""

    def adapt(self) -> None:
        """Let the net fit itself to the leaves of the last wave."""
        self._evaluator.adapt(self._planes.permute(0, 3, 1, 2))

    def evaluate(self) -> None:
        """Ask the net about the leaves that `descend` has found, and carry its answers up."""
        count, kernels = self.num_games, self.kernels
        launch(kernels.gather, count, self.tree, view(self._written.permute(2, 0, 1, 3)))
        transpose(self._written.view(-1, count), self._planes.view(count, -1))
        logits, wdl = self._evaluator.forward(self._planes.permute(0, 3, 1, 2))
        answers = (view(logits), view(wdl), view(self.evaluations))
        launch(kernels.ascend, count, self.tree, self.settings, self.needs_net, *answers)


class GpuSearch:
    """What `Search` is on the CPU: G roots in, G decisions out."""

    def __init__(
        self,
        game: Game,
        evaluator: DeviceEvaluator,
        *,
        config: SearchConfig,
        num_games: int,
        max_simulations: int,
        explore: bool,
        seed: int,
    ) -> None:
        self.config = config
        self.max_simulations = max_simulations
        self._finds_ends = config.finds_ends(explore=explore)
        self.roots: States = game.blank_states(num_games)
        self.repetitions = new_repetitions(game, num_games)
        self._trees = GpuTrees(
            game,
            evaluator,
            config=config,
            explore=explore,
            num_games=num_games,
            max_simulations=max_simulations,
            seed=seed,
        )
        device = evaluator.device
        self._roots = zeros(device, self.roots.dtype, num_games)
        self._table = zeros(device, np.int32, config.considered + 1, max_simulations)
        self._by_action = tuple(
            zeros(device, kind, num_games, game.num_actions) for kind in (np.float32, np.int32)
        )
        self._plant = _plant()
        self._wave = Graph(self._grow, device)

    @property
    def evaluations(self) -> int:
        """Leaves that the net was asked about so far."""
        return int(self._trees.evaluations.sum())

    def run(self, simulations: int, num_games: int | None = None) -> Decisions:
        """Search the first `num_games` roots (all by default), `simulations` each."""
        assert simulations <= self.max_simulations
        count = num_games or len(self.roots)
        trees = self._trees
        self._begin(simulations, count)
        self._wave()  # expands the roots
        if self._finds_ends:
            launch(trees.kernels.find_ends, count, trees.tree, count)
        for _ in range(simulations):
            self._wave()
        answers = (*trees.answers, *self._by_action)
        launch(trees.kernels.decide, count, trees.tree, trees.settings, count, *answers)
        return Decisions(*(to_host(answer)[:count] for answer in answers))

    def _grow(self) -> None:
        """One wave: a simulation of every tree that owes one, and all that need no net first."""
        trees = self._trees
        arguments = (trees.tree, trees.settings, self._table, trees.needs_net)
        launch(trees.kernels.descend, trees.num_games, *arguments)
        trees.evaluate()

    def _begin(self, simulations: int, count: int) -> None:
        trees, table = self._trees, np.zeros(self._table.shape, np.int32)
        table[:, :simulations] = visit_table(self.config.considered, simulations)
        copy_in(self._table, table)
        copy_in(self._roots, self.roots)
        copy_in(trees.tree.past, self.repetitions.keys)
        copy_in(trees.tree.past_counts, self.repetitions.counts)
        launch(self._plant, count, trees.tree, self._roots)
        everyone = trees.num_games
        launch(trees.kernels.begin, everyone, trees.tree, simulations, count)


@cache
def _plant() -> Any:
    @kernel
    def reset_tree(tree, roots):  # type: ignore[no-untyped-def]
        g = cuda.grid(1)
        if g < roots.shape[0]:
            tree.states[g, 0] = roots[g]

    return reset_tree
