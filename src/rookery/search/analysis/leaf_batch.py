"""Several leaves of one tree for one call of the network.

Each leaf is found by its own descent. Until the network has evaluated it, every edge on its path
has one virtual visit more, at the edge's current value: the next descent tends to another leaf,
but the values stay unbiased (Liu et al., "Watch the unobserved", 2020). A descent that arrives at
a leaf already in the batch closes the batch, because further descents would be pushed away from
the best moves.
"""

from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rookery.base import Index, compiled, namespace
from rookery.search import simulate
from rookery.search.config import Settings
from rookery.search.puct import mean_value
from rookery.search.tree import ROOT, Tree, capacity

VIRTUAL_VISIT = np.dtype(
    [("node", np.int32), ("edge", np.int32), ("value", np.float32)], align=True
)
SIMULATIONS, DEPTH_SUM, MAX_DEPTH, EVALUATIONS = range(4)
ONE_SIMULATION = np.int64(1)


class LeafBatch(NamedTuple):
    """Leaves of one tree that wait for the network, at most B.

    paths: [B, depth] VIRTUAL_VISIT records, the path to each leaf.
    lengths: [B] lengths of the paths.
    leaves: [B] nodes, in ascending order.
    counters: [4] SIMULATIONS, DEPTH_SUM and MAX_DEPTH of their paths, and EVALUATIONS.
    """

    paths: NDArray[Any]
    lengths: NDArray[np.int32]
    leaves: NDArray[np.int32]
    counters: NDArray[np.int64]


def new_leaf_batch(tree: Tree, size: int) -> LeafBatch:
    """Return an empty batch for `size` leaves of `tree`."""
    return LeafBatch(
        paths=np.zeros((size, tree.path.shape[1]), np.dtype((np.record, VIRTUAL_VISIT))),
        lengths=np.zeros(size, np.int32),
        leaves=np.zeros(size, np.int32),
        counters=np.zeros(4, np.int64),
    )


@compiled
def has_room(tree: Tree, num_pending: Index) -> bool:
    """Return whether another leaf fits, once `num_pending` leaves have got their edges."""
    search = tree.searches[0]
    needed = search.edges_used + (num_pending + 1) * tree.legal.shape[2]
    return search.nodes_used < capacity(tree) and needed <= tree.edges.shape[1]


@compiled
def add_virtual_visits(tree: Tree, settings: Settings, batch: LeafBatch, row: Index) -> None:
    """Store the tree's current path in `row`, and add a virtual visit to each of its edges."""
    search = tree.searches[0]
    batch.lengths[row] = search.path_length
    batch.leaves[row] = search.leaf
    for i in range(search.path_length):
        node, index = np.int64(tree.path[0, i].node), np.int64(tree.path[0, i].edge)
        edge, visit = tree.edges[0, index], batch.paths[row, i]
        if edge.visits > 0:
            value = edge.value_sum / np.float32(edge.visits)
        else:
            value = mean_value(tree, ROOT, node)[1] - settings.first_play_reduction
        visit.node = node
        visit.edge = index
        visit.value = value
        edge.visits += 1
        edge.value_sum += value


@compiled
def remove_virtual_visits(tree: Tree, batch: LeafBatch, row: Index) -> None:
    """Remove the virtual visits of `row`, and make its path the tree's current path."""
    search = tree.searches[0]
    search.path_length = batch.lengths[row]
    search.leaf = batch.leaves[row]
    for i in range(search.path_length):
        visit = batch.paths[row, i]
        edge = tree.edges[0, visit.edge]
        edge.visits -= 1
        edge.value_sum -= visit.value
        tree.path[0, i].node = visit.node
        tree.path[0, i].edge = visit.edge


@compiled
def count_simulation(tree: Tree, batch: LeafBatch) -> None:
    """Update the counters for the current path."""
    depth = np.int64(tree.searches[0].path_length)
    batch.counters[SIMULATIONS] += 1
    batch.counters[DEPTH_SUM] += depth
    batch.counters[MAX_DEPTH] = max(batch.counters[MAX_DEPTH], depth)


@cache
def bind(rules: ModuleType, *, proves_leaves: bool) -> ModuleType:
    """Bind `begin`, `gather`, `ascend` and `prove_terminal_moves` of one PUCT tree."""
    one = simulate.bind(rules, "puct", proves_leaves=proves_leaves)

    @compiled
    def begin(tree, settings, batch, planes):  # type: ignore[no-untyped-def]
        """Empty the tree, and make its root the only leaf of the batch."""
        one.begin(tree, settings, np.int64(0), ROOT)
        add_virtual_visits(tree, settings, batch, ROOT)
        one.write_planes(tree, ROOT, planes[0])

    @compiled
    def gather(tree, settings, table, batch, planes):  # type: ignore[no-untyped-def]
        """Run simulations until the batch is complete; return its number of leaves."""
        search, count = tree.searches[0], np.int64(0)
        while count < planes.shape[0] and search.simulations_left > count and has_room(tree, count):
            needs_net = one.descend(tree, settings, table, ONE_SIMULATION, ROOT)
            if needs_net and count > 0 and search.leaf <= batch.leaves[count - 1]:
                break
            count_simulation(tree, batch)
            if needs_net:
                one.write_planes(tree, ROOT, planes[count])
                add_virtual_visits(tree, settings, batch, count)
                count += 1
        return count

    @compiled
    def ascend(tree, settings, batch, logits, wdl):  # type: ignore[no-untyped-def]
        """Expand the leaves with the network's output and back up their values, in order."""
        for row in range(logits.shape[0]):
            remove_virtual_visits(tree, batch, np.int64(row))
            one.ascend(tree, settings, ROOT, logits[row], wdl[row])
        batch.counters[EVALUATIONS] += logits.shape[0]

    functions = [begin, gather, ascend, one.prove_terminal_moves]
    return namespace(f"{rules.__name__}.search.leaf_batch.{proves_leaves}", functions)
