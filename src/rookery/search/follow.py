"""Trees after a move: the subtree below it moves to the front, in place.

Children have higher indices than their parents, and edges are in the order of their nodes.
Therefore one pass is enough.

A search that follows a move begins again, with new noise and without visits. But it does not
evaluate a position again that the search before has visited: the node is there, with the network's
output, and waits at an edge without visits. The search is the same as one with an empty tree, with
fewer evaluations.
"""

import numpy as np

from rookery.base import Index, compiled
from rookery.games import ONGOING
from rookery.search.tree import ROOT, UNVISITED, Tree, edges_of


@compiled
def child_by(tree: Tree, g: Index, node: Index, action: Index) -> Index:
    """Return the child of `node` by `action`, or UNVISITED."""
    first, count = edges_of(tree, g, node)
    for index in range(first, first + count):
        if tree.edges[g, index].action == action:
            return np.int64(tree.edges[g, index].child)
    return np.int64(UNVISITED)


@compiled
def move_node(tree: Tree, g: Index, node: Index, target: Index, first: Index) -> Index:
    """Move `node` to `target` and its edges to `first`; return the end of those edges."""
    begin, count = edges_of(tree, g, node)
    tree.states[g, target] = tree.states[g, node]
    tree.nodes[g, target] = tree.nodes[g, node]
    if tree.keys.shape[1] > 1:
        tree.keys[g, target] = tree.keys[g, node]
    tree.nodes[g, target].first_edge = first
    for i in range(count):
        tree.edges[g, first + i] = tree.edges[g, begin + i]
        child = tree.edges[g, first + i].child
        if child != UNVISITED:
            tree.nodes[g, child].parent = target
            tree.nodes[g, child].edge = first + i
    return first + count


@compiled
def keep_subtree(tree: Tree, g: Index, root: Index) -> None:
    """Make `root` the root and remove all nodes outside its subtree."""
    search = tree.searches[g]
    for node in range(root, search.nodes_used):
        tree.nodes[g, node].parent = UNVISITED
    num_nodes: Index = np.int64(0)
    num_edges: Index = np.int64(0)
    for node in range(root, search.nodes_used):
        if node == root or tree.nodes[g, node].parent != UNVISITED:
            num_edges = move_node(tree, g, np.int64(node), num_nodes, num_edges)
            if num_nodes > 0:
                tree.edges[g, tree.nodes[g, num_nodes].edge].child = num_nodes
            num_nodes += 1
    search.nodes_used = num_nodes
    search.edges_used = num_edges


@compiled
def is_evaluated(tree: Tree, g: Index, node: Index) -> bool:
    """Return whether `node` has the network's output and is not proved."""
    record = tree.nodes[g, node]
    return record.num_edges > 0 and record.proof == ONGOING


@compiled
def follow_move(tree: Tree, g: Index, action: Index) -> None:
    """Keep the evaluations below the root's move `action`, if there are any, for the next search.

    Proved positions are proved again: proofs may depend on the positions played before the root.
    """
    root = child_by(tree, g, ROOT, action)
    if root == UNVISITED or not is_evaluated(tree, g, root):
        return
    search = tree.searches[g]
    for node in range(root + 1, search.nodes_used):
        edge = tree.edges[g, tree.nodes[g, node].edge]
        if edge.visits == 0 or not is_evaluated(tree, g, np.int64(node)):
            edge.child = UNVISITED
    keep_subtree(tree, g, root)
    for index in range(search.edges_used):
        edge = tree.edges[g, index]
        edge.visits = 0
        edge.proof = ONGOING
        edge.value_sum = 0.0
        edge.draw_sum = 0.0
    search.is_followed = 1
