"""Search of one position, for as long as the caller likes.

Other searches batch leaves across games. This one grows a single tree and gathers several of its
leaves per network call, as few as keep the device busy. Its result can be read at any time, and
the subtree below the moves played is reused for the next position.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rookery.base import Index
from rookery.games import ONGOING, Action, Game, Repetitions, State
from rookery.search.analysis import leaf_batch, reroot
from rookery.search.analysis.proved_lines import ProvedLines
from rookery.search.analysis.variations import Variation, read_variations
from rookery.search.config import SearchConfig
from rookery.search.protocols import DeviceEvaluator, Evaluator
from rookery.search.simulate import soften_priors
from rookery.search.tree import ROOT, UNVISITED, capacity, edges_of, layout, new_tree

Floats = NDArray[np.float32]
AFTER_GUMBEL = SearchConfig(method="puct", c_init=1.0, policy_temperature=2.0)
"""The search where the run used Gumbel search; from docs/experiments.md."""
PROOF_NODES = 64
"""`search.proof_nodes` of a search on a CPU: wins in one cost little, even in chess."""
MAX_LEAVES = 64
"""Largest batch that `choose_leaves` tries; selecting leaves then takes as long as a GPU call."""
MIN_SPEEDUP_EXPONENT = 0.25
"""A batch n times as large must be n to this power times as fast: 1.19 times if doubled."""
MAX_SIZE_RATIO = 4
"""Batch sizes tried, relative to the best so far: one measurement may be disturbed."""
MAX_BATCH_SECONDS = 0.04
"""A search can stop only between batches."""
MEASURE_SECONDS = 0.1
MIN_NODES = 1024
_NO_TABLE = np.zeros((1, 1), np.int32)  # only Gumbel search reads its visit table


@dataclass(frozen=True)
class SearchProgress:
    """Work done since `AnalysisSearch.set_position`."""

    simulations: int
    evaluations: int
    depth: int
    """Average length of a simulation's path, in plies."""
    max_depth: int
    fullness: float
    """Share of the tree's memory in use."""


class AnalysisSearch:
    """One tree that grows by PUCT, without noise."""

    def __init__(
        self,
        game: Game,
        evaluator: Evaluator,
        *,
        config: SearchConfig,
        max_nodes: int,
        leaves: int = 0,
        proof_nodes: int | None = None,
    ) -> None:
        """Allocate a tree of `max_nodes` positions, with `leaves` per batch (0: measured).

        proof_nodes: the setting of the search; by default the run's, but at least PROOF_NODES, or 0
        if the evaluator is on a GPU, whose network is too fast for proofs on the host.
        """
        self.game = game
        is_on_gpu = isinstance(evaluator, DeviceEvaluator)
        self.leaves = leaves or choose_leaves(game, evaluator)
        self._evaluator = evaluator
        if proof_nodes is None:
            proof_nodes = 0 if is_on_gpu else max(config.proof_nodes, PROOF_NODES)
        if config.method == "gumbel":
            config = AFTER_GUMBEL
        config = replace(config, prove=True, proof_nodes=proof_nodes)
        self._settings = config.settings(explore=False)
        self.tree = new_tree(game, 1, max_nodes, proves_leaves=config.proves_leaves)
        """The tree, as a batch of one."""
        self.tree.streams[:] = 1
        self._batch = leaf_batch.new_leaf_batch(self.tree, self.leaves)
        self._planes = np.zeros((self.leaves, *game.planes_shape), np.float32)
        self._plies = np.zeros(max_nodes + 2, np.int32)
        self._kernels = leaf_batch.bind(game.rules, proves_leaves=config.proves_leaves)
        self._reroot = reroot.bind(game.rules)
        self._lines = ProvedLines(game, self._settings)
        if config.proves_leaves:
            self._lines.line_from(game.new_states(1)[0])  # compiles it
        self._can_reuse = False

    @property
    def is_finished(self) -> bool:
        """Whether more simulations would change nothing: the root is proved or the tree full."""
        is_proved = self.tree.nodes[0, 0].proof != ONGOING
        return bool(is_proved or not leaf_batch.has_room(self.tree, 0))

    @property
    def simulations(self) -> int:
        """Simulations since the last `set_position`."""
        return int(self._batch.counters[leaf_batch.SIMULATIONS])

    @property
    def progress(self) -> SearchProgress:
        """Work done since the last `set_position`."""
        counters, search = self._batch.counters, self.tree.searches[0]
        simulations = self.simulations
        nodes, edges = capacity(self.tree), self.tree.edges.shape[1]
        return SearchProgress(
            simulations=simulations,
            evaluations=int(counters[leaf_batch.EVALUATIONS]),
            depth=round(int(counters[leaf_batch.DEPTH_SUM]) / max(1, simulations)),
            max_depth=int(counters[leaf_batch.MAX_DEPTH]),
            fullness=float(max(search.nodes_used / nodes, search.edges_used / edges)),
        )

    def set_position(
        self,
        state: State,
        repetitions: Repetitions,
        *,
        moves: Sequence[Action] | None = None,
        only: Sequence[Action] = (),
    ) -> None:
        """Make `state` the root; it must not be terminal.

        repetitions: positions played before `state`, for a batch of one.
        moves: moves from the last position to `state`, if any; the tree below them is reused.
        only: root moves to search; all if empty.
        """
        node: Index = UNVISITED
        if moves is not None and self._can_reuse and not only:
            node = reroot.find_node(self.tree, np.array(moves, np.int32))
            if node != UNVISITED and not self._has_all_edges(node, state):
                node = UNVISITED
        self.tree.past[:], self.tree.past_counts[:] = repetitions.keys, repetitions.counts
        self._batch.counters[:] = 0
        if node > 0:
            self._reroot.reroot(self.tree, node)
        self.tree.states[0, 0] = state
        if node == UNVISITED:
            self._kernels.begin(self.tree, self._settings, self._batch, self._planes)
            self.ascend(*self._evaluator(self._planes[:1]))
        self._can_reuse = not only
        if only:
            self._restrict(only)
        self._kernels.prove_terminal_moves(self.tree, ROOT)

    def grow(self, simulations: int, is_stopped: Callable[[], bool] | None = None) -> int:
        """Run `simulations`, or fewer if `is_stopped` after a batch; return how many were run."""
        before = self.simulations
        while (left := before + simulations - self.simulations) > 0:
            planes = self.gather(left)
            if len(planes):
                self.ascend(*self._evaluator(planes))
            elif self.is_finished:
                break
            if is_stopped and is_stopped():
                break
        return self.simulations - before

    def gather(self, simulations: int) -> Floats:
        """Begin up to `simulations`; return the planes [n, P, H, W] of their leaves, perhaps none.

        `ascend` ends the simulations.
        """
        self.tree.searches[0].simulations_left = 0 if self.is_finished else simulations
        arguments = (self.tree, self._settings, _NO_TABLE, self._batch, self._planes)
        return self._planes[: self._kernels.gather(*arguments)]

    def ascend(self, logits: Floats, wdl: Floats) -> None:
        """Add the evaluations of the leaves that `gather` returned last."""
        self._kernels.ascend(self.tree, self._settings, self._batch, logits, wdl)

    def variations(self, count: int = 1, path: Sequence[Action] = ()) -> list[Variation]:
        """Return the principal variations of the `count` best moves, best first.

        They are those after the moves of `path`; none if the tree has no such node.
        """
        node = reroot.find_node(self.tree, np.array(path, np.int32))
        if node == UNVISITED:
            return []
        return read_variations(self.tree, self._plies, count, node, self._lines.line_from)

    def _has_all_edges(self, node: Index, state: State) -> bool:
        """Return whether `node` has an edge for every move: not if it was proved as a leaf."""
        return int(self.tree.nodes[0, node].num_edges) == len(self.game.legal_actions(state))

    def _restrict(self, only: Sequence[Action]) -> None:
        """Keep only some edges of a new root, and normalise their priors."""
        root = self.tree.nodes[0, 0]
        edges = self.tree.edges[0, root.first_edge : root.first_edge + root.num_edges]
        kept = edges[np.isin(edges["action"], only)].copy()
        edges = edges[: len(kept)]
        edges[:] = kept
        root.num_edges = len(kept)
        edges["log_prior"] -= edges["log_prior"].max()
        edges["log_prior"] -= np.log(np.exp(edges["log_prior"]).sum())
        first, count = edges_of(self.tree, ROOT, ROOT)
        soften_priors(self.tree, ROOT, first, count, self._settings.policy_temperature)


def nodes_in_memory(game: Game, megabytes: int) -> int:
    """Return the number of positions of a tree that takes `megabytes`."""

    def size(nodes: int) -> int:
        return sum(
            np.dtype(dtype).itemsize * int(np.prod(shape, dtype=np.int64))
            for dtype, shape in layout(game, 1, nodes, proves_leaves=True)
        )

    per_max_plies = size(2 * game.max_plies) - size(game.max_plies)
    fixed = size(game.max_plies) - per_max_plies
    return max(MIN_NODES, int((megabytes * 2**20 - fixed) / (per_max_plies / game.max_plies)))


def choose_leaves(game: Game, evaluator: Evaluator) -> int:
    """Return the fewest leaves per batch that keep the evaluator busy, by measurement."""
    leaves, best_rate, size = 1, _measure_rate(game, evaluator, 1), 2
    while size <= min(MAX_LEAVES, MAX_SIZE_RATIO * leaves):
        rate = _measure_rate(game, evaluator, size)
        if size / rate > MAX_BATCH_SECONDS:
            break
        if rate > best_rate * (size / leaves) ** MIN_SPEEDUP_EXPONENT:
            leaves, best_rate = size, rate
        size *= 2
    return leaves


def _measure_rate(game: Game, evaluator: Evaluator, rows: int) -> float:
    """Return positions per second of the fastest call: other processes may slow some down."""
    planes = np.zeros((rows, *game.planes_shape), np.float32)
    evaluator(planes)
    best, end = np.inf, time.perf_counter() + MEASURE_SECONDS
    while time.perf_counter() < end:
        start = time.perf_counter()
        evaluator(planes)
        best = min(best, time.perf_counter() - start)
    return rows / best
