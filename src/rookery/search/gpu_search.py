"""Batched search on a GPU, with one thread per game.

Trees, positions and planes stay in the memory of the device. One step (every tree descends to a
leaf, the network evaluates all leaves, every tree backs up) is one captured CUDA graph, which the
host replays.
"""

from functools import cache
from types import ModuleType
from typing import Unpack

import numpy as np
import torch

from rookery.base import ConfigError, namespace, seeds
from rookery.games import Game, States, is_cpu_only, new_repetitions
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
from rookery.search.config import SearchOptions
from rookery.search.cpu_search import CpuSearch
from rookery.search.decisions import DecisionArrays, Decisions, scatter_by_action
from rookery.search.gumbel import visit_table
from rookery.search.protocols import DeviceEvaluator, Evaluator, Search
from rookery.search.tree import Tree, layout

FREE_SIMULATIONS = np.int64(6)
"""Simulations per game and step: up to five that need no evaluation, then one that does.

A step takes as long as its slowest game; the limit keeps one game from delaying the others.
"""


@cache
def bind(rules: ModuleType, method: str, *, proves_leaves: bool) -> ModuleType:
    """Return the steps of `simulate.bind` as kernels with one thread per game."""
    one = simulate.bind(rules, method, proves_leaves=proves_leaves)

    @kernel
    def begin(tree, settings, roots, simulations, num_games):  # type: ignore[no-untyped-def]
        g = cuda.grid(1)
        if g < num_games:
            tree.states[g, 0] = roots[g]
            one.begin(tree, settings, np.int64(simulations), np.int64(g))
        elif g < tree.searches.shape[0]:
            tree.searches[g].simulations_left = 0

    @kernel
    def descend(tree, settings, table, needs_net):  # type: ignore[no-untyped-def]
        g = cuda.grid(1)
        if g < needs_net.shape[0]:
            needs_net[g] = one.descend(tree, settings, table, FREE_SIMULATIONS, np.int64(g))

    @kernel
    def write_planes(tree, planes):  # type: ignore[no-untyped-def]
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
    def prove_terminal_moves(tree, num_games):  # type: ignore[no-untyped-def]
        g = cuda.grid(1)
        if g < num_games:
            one.prove_terminal_moves(tree, np.int64(g))

    @kernel
    def decide(tree, settings, num_games, out, policy, visits):  # type: ignore[no-untyped-def]
        g = cuda.grid(1)
        if g < num_games:
            one.decide(tree, settings, np.int64(g), out)
            scatter_by_action(tree, np.int64(g), out.policy, policy, visits)

    functions = [begin, descend, write_planes, ascend, prove_terminal_moves, decide]
    return namespace(f"{rules.__name__}.search.{method}.{proves_leaves}.gpu", functions)


class GpuTrees:
    """G trees on a GPU and their evaluation, shared by `GpuSearch` and self-play."""

    def __init__(
        self,
        game: Game,
        evaluator: DeviceEvaluator,
        *,
        is_followed: bool = False,
        **options: Unpack[SearchOptions],
    ) -> None:
        """`is_followed` says that `follow_move` will be called."""
        self.game, self._evaluator, self.config = game, evaluator, options["config"]
        self.num_games = num_games = options["num_games"]
        self.max_simulations = options["max_simulations"]
        self.settings = self.config.settings(explore=options["explore"])
        self.proves_terminal_moves = self.config.prove and not options["explore"]
        proves_leaves = self.config.proves_leaves
        self.kernels = bind(game.rules, self.config.method, proves_leaves=proves_leaves)
        self.device = device = evaluator.device
        arrays = layout(
            game,
            num_games,
            self.max_simulations,
            proves_leaves=proves_leaves,
            is_followed=is_followed,
        )
        self.tree = Tree(*(zeros(device, dtype, *shape) for dtype, shape in arrays))
        copy_in(self.tree.streams, seeds(num_games, options["seed"], "search"))
        cells = torch.arange(game.num_actions) if evaluator.cells is None else evaluator.cells
        as_tensor(self.tree.cells).copy_(cells)
        planes, height, width = game.planes_shape
        self._written_planes = torch.zeros((height, width, planes, num_games), device=device)
        """Games innermost, so that neighbouring threads write neighbouring words."""
        self._planes = torch.zeros((num_games, height, width, planes), device=device)
        """The same planes, channels last, as the network reads them."""
        self.needs_net = zeros(device, np.bool_, num_games)
        """[G] whether the tree has a leaf to evaluate."""
        self.evaluations = torch.zeros(num_games, dtype=torch.int64, device=device)
        """[G] number of positions evaluated so far."""
        self.decisions = DecisionArrays(
            zeros(device, np.int32, num_games),
            zeros(device, np.float32, num_games, game.max_legal),
            zeros(device, np.float32, num_games, 2),
        )

    def adapt(self) -> None:
        """Calibrate a quantized network on the leaves of the last step."""
        self._evaluator.adapt(self._planes.permute(0, 3, 1, 2))

    def evaluate(self) -> None:
        """Evaluate the leaves that `descend` has found, expand them and back up their values."""
        count, kernels = self.num_games, self.kernels
        written = view(self._written_planes.permute(2, 0, 1, 3))
        launch(kernels.write_planes, count, self.tree, written)
        transpose(self._written_planes.view(-1, count), self._planes.view(count, -1))
        logits, wdl = self._evaluator.forward(self._planes.permute(0, 3, 1, 2))
        outputs = (view(logits), view(wdl), view(self.evaluations))
        launch(kernels.ascend, count, self.tree, self.settings, self.needs_net, *outputs)


class GpuSearch:
    """The interface of `CpuSearch` over trees on a GPU."""

    def __init__(self, trees: GpuTrees) -> None:
        game, device, num_games = trees.game, trees.device, trees.num_games
        self.roots: States = game.blank_states(num_games)
        self.repetitions = new_repetitions(game, num_games)
        self._trees = trees
        self._roots = zeros(device, self.roots.dtype, num_games)
        self._table = zeros(device, np.int32, trees.config.considered + 1, trees.max_simulations)
        self._policy = zeros(device, np.float32, num_games, game.num_actions)
        self._visits = zeros(device, np.int32, num_games, game.num_actions)
        self._step = Graph(self._simulate, device)

    @property
    def evaluations(self) -> int:
        """Number of positions evaluated by the network so far."""
        return int(self._trees.evaluations.sum())

    def run(self, simulations: int, num_games: int | None = None) -> Decisions:
        """Search the first `num_games` roots (all by default) with `simulations` each."""
        trees, count = self._trees, num_games or len(self.roots)
        self._begin(simulations, count)
        for _ in range(simulations):
            self._step()
        arrays = (trees.decisions, self._policy, self._visits)
        launch(trees.kernels.decide, count, trees.tree, trees.settings, count, *arrays)
        results = (*trees.decisions, self._policy, self._visits)
        return Decisions(*(to_host(result)[:count] for result in results))

    def _begin(self, simulations: int, count: int) -> None:
        """Copy the roots to the device, empty the trees, then evaluate and expand the roots."""
        trees = self._trees
        assert simulations <= trees.max_simulations
        table = np.zeros(self._table.shape, np.int32)
        table[:, :simulations] = visit_table(trees.config.considered, simulations)
        copy_in(self._table, table)
        copy_in(self._roots, self.roots)
        copy_in(trees.tree.past, self.repetitions.keys)
        copy_in(trees.tree.past_counts, self.repetitions.counts)
        arguments = (trees.tree, trees.settings, self._roots, simulations, count)
        launch(trees.kernels.begin, trees.num_games, *arguments)
        self._step()
        if trees.proves_terminal_moves:
            launch(trees.kernels.prove_terminal_moves, count, trees.tree, count)

    def _simulate(self) -> None:
        """Run one step: up to one evaluated simulation per tree."""
        trees = self._trees
        arguments = (trees.tree, trees.settings, self._table, trees.needs_net)
        launch(trees.kernels.descend, trees.num_games, *arguments)
        trees.evaluate()


def new_search(
    game: Game, evaluator: Evaluator | DeviceEvaluator, **options: Unpack[SearchOptions]
) -> Search:
    """Return a batched search on the device of `evaluator`."""
    if isinstance(evaluator, DeviceEvaluator):
        if is_cpu_only(game.name):
            raise ConfigError(
                f"{game.name} cannot be searched on a GPU: its rules run on the CPU only; "
                "use --devices cpu"
            )
        return GpuSearch(GpuTrees(game, evaluator, **options))
    return CpuSearch(game, evaluator, **options)
