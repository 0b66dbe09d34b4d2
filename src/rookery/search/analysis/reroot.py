"""Reuse of a tree after moves: a node becomes the root, its subtree is kept with all statistics."""

from functools import cache
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from rookery.base import Index, compiled, namespace
from rookery.games import DRAW, ONGOING
from rookery.search.follow import child_by, keep_subtree
from rookery.search.simulate import bind_repetition_checks, prove
from rookery.search.tree import ROOT, UNVISITED, Tree


@compiled
def find_node(tree: Tree, actions: NDArray[np.int32]) -> Index:
    """Return the node that `actions` reach from the root if it has edges, else UNVISITED."""
    node: Index = ROOT
    for action in actions:
        node = child_by(tree, ROOT, node, action)
        if node == UNVISITED:
            return node
    return node if tree.nodes[0, node].num_edges > 0 else np.int64(UNVISITED)


@compiled
def restore_path(tree: Tree, node: Index) -> None:
    """Make the path to `node` the tree's current path."""
    length, ancestor = 0, node
    while ancestor != 0:
        ancestor = np.int64(tree.nodes[0, ancestor].parent)
        length += 1
    tree.searches[0].path_length = length
    for i in range(length - 1, -1, -1):
        step = tree.nodes[0, node]
        tree.path[0, i].node, tree.path[0, i].edge = step.parent, step.edge
        node = np.int64(step.parent)


@cache
def bind(rules: ModuleType) -> ModuleType:
    """Bind `reroot(tree, root)`."""
    repetitions = bind_repetition_checks(rules)

    @compiled
    def prove_again(tree, node):  # type: ignore[no-untyped-def]
        """Return the proof of `node`, given the positions played before the new root.

        A repetition within the old search may now be the first one on the board.
        """
        if tree.nodes[0, node].num_edges > 0:
            return prove(tree, ROOT, node)
        if tree.nodes[0, node].proof == DRAW:
            restore_path(tree, node)
            repetitions.leaf(tree, ROOT, node)
            return np.int64(rules.outcome(tree.states[0, node]))
        return np.int64(tree.nodes[0, node].proof)

    @compiled
    def reroot(tree, root):  # type: ignore[no-untyped-def]
        """Make node `root` the root; the caller has updated the positions played before it."""
        keep_subtree(tree, ROOT, root)
        for node in range(tree.searches[0].nodes_used - 1, -1, -1):
            proof = prove_again(tree, np.int64(node))  # type: ignore[no-untyped-call]
            tree.nodes[0, node].proof = proof
            if node > 0:
                edge = tree.edges[0, tree.nodes[0, node].edge]
                edge.proof = proof if proof == ONGOING else -proof
                if proof == ONGOING and tree.nodes[0, node].num_edges == 0:
                    edge.child = UNVISITED  # no longer a draw: evaluate it again

    return namespace(f"{rules.__name__}.search.reroot", [reroot])
