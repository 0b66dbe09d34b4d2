"""A tree whose root moves on: what lies below the moves made is kept, the rest is dropped.

Children stand behind their parents in the arena, and edges in the order of their nodes, so that
one sweep moves all that is kept to the front, in place.
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
    """The node where `actions` lead from the root, if it has edges; else UNVISITED."""
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
def move_node(tree: Tree, steps: NDArray[Any], node: Index, goal: Index, first: Index) -> Index:
    """Move `node` to `goal` and its edges to `first`; where the next edges go."""
    begin, count = edges_of(tree, ROOT, node)
    tree.states[0, goal] = tree.states[0, node]
    tree.nodes[0, goal] = tree.nodes[0, node]
    if tree.keys.shape[1] > 1:
        tree.keys[0, goal] = tree.keys[0, node]
    tree.nodes[0, goal].first_edge = first
    for i in range(count):
        tree.edges[0, first + i] = tree.edges[0, begin + i]
        child = tree.edges[0, first + i].child
        if child != UNVISITED:
            steps[child].node = goal
            steps[child].edge = first + i
    return first + count


@compiled
def keep_below(tree: Tree, steps: NDArray[Any], root: Index) -> None:
    """Make `root` the root and drop what is not below it; `steps` [N] then lead to each node."""
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
def retrace(tree: Tree, steps: NDArray[Any], node: Index) -> None:
    """Make the way to `node` the tree's current path."""
    length, above = 0, node
    while above != 0:
        above = np.int64(steps[above].node)
        length += 1
    tree.searches[0].path_length = length
    for i in range(length - 1, -1, -1):
        tree.path[0, i] = steps[node]
        node = np.int64(steps[node].node)


@cache
def bind(rules: ModuleType) -> ModuleType:
    """`move_on`: the root goes to a node of the tree."""
    recognition = bind_repetition_checks(rules)

    @compiled
    def settle(tree, steps, node):  # type: ignore[no-untyped-def]
        """Prove `node` anew: what came back once within the search has now only been seen once."""
        if tree.nodes[0, node].num_edges > 0:
            return prove(tree, ROOT, node)
        if tree.nodes[0, node].proof == DRAW:
            retrace(tree, steps, node)
            recognition.leaf(tree, ROOT, node)
            return np.int64(rules.outcome(tree.states[0, node]))
        return np.int64(tree.nodes[0, node].proof)

    @compiled
    def move_on(tree, steps, root):  # type: ignore[no-untyped-def]
        """Make node `root` the root; the caller has noted what stands before it now."""
        keep_below(tree, steps, root)
        for node in range(tree.searches[0].nodes_used - 1, -1, -1):
            proof = settle(tree, steps, np.int64(node))  # type: ignore[no-untyped-call]
            tree.nodes[0, node].proof = proof
            if node > 0:
                edge = tree.edges[0, steps[node].edge]
                edge.proof = proof if proof == ONGOING else -proof
                if proof == ONGOING and tree.nodes[0, node].num_edges == 0:
                    edge.child = UNVISITED  # a draw no more: to be looked at again

    return namespace(f"{rules.__name__}.reroot", {"move_on": move_on})
