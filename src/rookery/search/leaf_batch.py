"""Several leaves of one tree for one call of the net.

Each leaf is found by a descent of its own. Until the net has answered, the edges on its way count
a visit more at the value they have, so that the next descent looks elsewhere but thinks no worse of
them (Liu et al., "Watch the unobserved", 2020). A descent that meets a leaf already waiting ends
the wave: more would only be pushed away from where they belong.
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
from rookery.search.tree import ROOT, Tree

LOAN = np.dtype([("node", np.int32), ("edge", np.int32), ("value", np.float32)], align=True)
SIMULATIONS, DEPTHS, DEEPEST, EVALUATIONS = range(4)
ONCE = np.int64(1)


class Wave(NamedTuple):
    """The leaves of one tree that wait for the net, at most W.

    paths: [W, D] LOAN records: the way to each leaf, and what each edge was lent on it.
    lengths: [W] of those ways.
    leaves: [W] nodes, each of a higher number than those before.
    counters: [4] simulations so far, their summed depth, the deepest, and the net's answers.
    """

    paths: NDArray[Any]
    lengths: NDArray[np.int32]
    leaves: NDArray[np.int32]
    counters: NDArray[np.int64]


def new_wave(tree: Tree, leaves: int) -> Wave:
    """Room for `leaves` leaves of `tree`."""
    return Wave(
        paths=np.zeros((leaves, tree.path.shape[1]), np.dtype((np.record, LOAN))),
        lengths=np.zeros(leaves, np.int32),
        leaves=np.zeros(leaves, np.int32),
        counters=np.zeros(4, np.int64),
    )


@compiled
def has_room(tree: Tree, waiting: Index) -> bool:
    """Whether another leaf fits into the arena, beside `waiting` ones that have no edges yet."""
    search = tree.searches[0]
    needed = search.edges_used + (waiting + 1) * tree.legal.shape[1]
    return search.nodes_used < tree.nodes.shape[1] - 1 and needed <= tree.edges.shape[1]


@compiled
def add_virtual_visits(tree: Tree, settings: Settings, wave: Wave, row: Index) -> None:
    """Keep the way to the leaf, and lend each of its edges a visit at the value that it has."""
    search = tree.searches[0]
    wave.lengths[row] = search.path_length
    wave.leaves[row] = search.leaf
    for i in range(search.path_length):
        node, index = np.int64(tree.path[0, i].node), np.int64(tree.path[0, i].edge)
        edge, loan = tree.edges[0, index], wave.paths[row, i]
        if edge.visits > 0:
            value = edge.value_sum / np.float32(edge.visits)
        else:
            value = mean_value(tree, ROOT, node)[1] - settings.first_play_reduction
        loan.node = node
        loan.edge = index
        loan.value = value
        edge.visits += 1
        edge.value_sum += value


@compiled
def remove_virtual_visits(tree: Tree, wave: Wave, row: Index) -> None:
    """Take back what was lent on the way to a leaf, and make that way the tree's current one."""
    search = tree.searches[0]
    search.path_length = wave.lengths[row]
    search.leaf = wave.leaves[row]
    for i in range(search.path_length):
        loan = wave.paths[row, i]
        edge = tree.edges[0, loan.edge]
        edge.visits -= 1
        edge.value_sum -= loan.value
        tree.path[0, i].node = loan.node
        tree.path[0, i].edge = loan.edge


@compiled
def note(tree: Tree, wave: Wave) -> None:
    """Count the simulation that has just gone down."""
    depth = np.int64(tree.searches[0].path_length)
    wave.counters[SIMULATIONS] += 1
    wave.counters[DEPTHS] += depth
    wave.counters[DEEPEST] = max(wave.counters[DEEPEST], depth)


@cache
def bind(rules: ModuleType) -> ModuleType:
    """`begin`, `gather`, `ascend` and `find_ends`: the waves of one tree, by PUCT."""
    one = simulate.bind(rules, "puct")

    @compiled
    def begin(tree, settings, wave, planes):  # type: ignore[no-untyped-def]
        """Empty the tree but for its root, which waits for the net alone."""
        one.begin(tree, np.int64(0), ROOT)
        add_virtual_visits(tree, settings, wave, ROOT)
        one.write_planes(tree, ROOT, planes[0])

    @compiled
    def gather(tree, settings, table, wave, planes):  # type: ignore[no-untyped-def]
        """Simulate, up to as many leaves as there are `planes` for; how many wait for the net."""
        search, count = tree.searches[0], np.int64(0)
        while count < planes.shape[0] and search.simulations_left > count and has_room(tree, count):
            needs_net = one.descend(tree, settings, table, ONCE, ROOT)
            if needs_net and count > 0 and search.leaf <= wave.leaves[count - 1]:
                break
            note(tree, wave)
            if needs_net:
                one.write_planes(tree, ROOT, planes[count])
                add_virtual_visits(tree, settings, wave, count)
                count += 1
        return count

    @compiled
    def ascend(tree, settings, wave, logits, wdl):  # type: ignore[no-untyped-def]
        """Carry the net's answers up, in the order of the leaves."""
        for row in range(logits.shape[0]):
            remove_virtual_visits(tree, wave, np.int64(row))
            one.ascend(tree, settings, ROOT, logits[row], wdl[row])
        wave.counters[EVALUATIONS] += logits.shape[0]

    functions = {
        "begin": begin,
        "gather": gather,
        "ascend": ascend,
        "find_ends": one.find_ends,
    }
    return namespace(f"{rules.__name__}.wave", functions)
