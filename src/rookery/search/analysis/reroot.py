"""Reuse of a tree after moves: a node becomes the root, its subtree is kept.

Children have higher indices than their parents, and edges are in the order of their nodes.
Therefore one pass moves the subtree to the front, in place.
"""

from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rookery.base import Index, compiled, namespace
from rookery.games import DRAW, ONGOING
from rookery.search.simulate import bind_repetition_checks, prove
from rookery.search.tree import ROOT, UNVISITED, Tree, edges_of


@compiled
def find_node(tree: Tree, actions: NDArray[np.int32]) -> Index:
    """Return the node that `actions` reach from the root if it has edges, else UNVISITED."""
    node = ROOT
    for action in actions:
        first, count = edges_of(tree, ROOT, node)
        child = np.int64(UNVISITED)
        for index in range(first, first + count):
            if tree.edges[0, index].action == action:
                child = np.int64(tree.edges[0, index].child)
        if child == UNVISITED:
            return child
        node = child
    return node if tree.nodes[0, node].num_edges > 0 else np.int64(UNVISITED)


@compiled
def move_node(tree: Tree, steps: NDArray[Any], node: Index, target: Index, first: Index) -> Index:
    """Move `node` to `target` and its edges to `first`; return the end of those edges."""
    begin, count = edges_of(tree, ROOT, node)
    tree.states[0, target] = tree.states[0, node]
    tree.nodes[0, target] = tree.nodes[0, node]
    if tree.keys.shape[1] > 1:
        tree.keys[0, target] = tree.keys[0, node]
    tree.nodes[0, target].first_edge = first
    for i in range(count):
        tree.edges[0, first + i] = tree.edges[0, begin + i]
        child = tree.edges[0, first + i].child
        if child != UNVISITED:
            steps[child].node = target
            steps[child].edge = first + i
    return first + count


@compiled
def keep_subtree(tree: Tree, steps: NDArray[Any], root: Index) -> None:
    """Make `root` the root and remove all nodes outside its subtree.

    steps: [N] receives the parent and the incoming edge of each node.
    """
    search = tree.searches[0]
    for node in range(root, search.nodes_used):
        steps[node].node = UNVISITED
    num_nodes: Index = np.int64(0)
    num_edges: Index = np.int64(0)
    for node in range(root, search.nodes_used):
        if node == root or steps[node].node != UNVISITED:
            num_edges = move_node(tree, steps, np.int64(node), num_nodes, num_edges)
            steps[num_nodes] = steps[node]
            if num_nodes > 0:
                tree.edges[0, steps[num_nodes].edge].child = num_nodes
            num_nodes += 1
    search.nodes_used = num_nodes
    search.edges_used = num_edges


@compiled
def restore_path(tree: Tree, steps: NDArray[Any], node: Index) -> None:
    """Make the path to `node` the tree's current path."""
    length, ancestor = 0, node
    while ancestor != 0:
        ancestor = np.int64(steps[ancestor].node)
        length += 1
    tree.searches[0].path_length = length
    for i in range(length - 1, -1, -1):
        tree.path[0, i] = steps[node]
        node = np.int64(steps[node].node)


@cache
def bind(rules: ModuleType) -> ModuleType:
    """Bind `reroot(tree, steps, root)`."""
    repetitions = bind_repetition_checks(rules)

    @compiled
    def prove_again(tree, steps, node):  # type: ignore[no-untyped-def]
        """Return the proof of `node`, given the positions played before the new root.

        A repetition within the old search may now be the first one on the board.
        """
        if tree.nodes[0, node].num_edges > 0:
            return prove(tree, ROOT, node)
        if tree.nodes[0, node].proof == DRAW:
            restore_path(tree, steps, node)
            repetitions.leaf(tree, ROOT, node)
            return np.int64(rules.outcome(tree.states[0, node]))
        return np.int64(tree.nodes[0, node].proof)

    @compiled
    def reroot(tree, steps, root):  # type: ignore[no-untyped-def]
        """Make node `root` the root; the caller has updated the positions played before it."""
        keep_subtree(tree, steps, root)
        for node in range(tree.searches[0].nodes_used - 1, -1, -1):
            proof = prove_again(tree, steps, np.int64(node))  # type: ignore[no-untyped-call]
            tree.nodes[0, node].proof = proof
            if node > 0:
                edge = tree.edges[0, steps[node].edge]
                edge.proof = proof if proof == ONGOING else -proof
                if proof == ONGOING and tree.nodes[0, node].num_edges == 0:
                    edge.child = UNVISITED  # no longer a draw: evaluate it again

    return namespace(f"{rules.__name__}.search.reroot", [reroot])
