"""What a finished search says: the move, the policy it teaches, its value."""

import numpy as np
from numpy.typing import NDArray

from rookery.base import Index, compiled
from rookery.games import ONGOING
from rookery.search import gumbel
from rookery.search.tree import ROOT, Tree, edge_draw, edge_value, edges_of


@compiled
def write_value(
    tree: Tree, g: Index, policy: NDArray[np.float32], out: NDArray[np.float32]
) -> None:
    """The root's value and draw probability: proved, else the mean under its edges' `policy`."""
    proof = tree.nodes[g, 0].proof
    if proof != ONGOING:
        out[0], out[1] = np.float32(proof), np.float32(proof == 0)
        return
    first, count = edges_of(tree, g, ROOT)
    _, _, mixed = gumbel.completed_values(tree, g, ROOT)
    out[0], out[1] = 0.0, 0.0
    for i in range(count):
        edge = tree.edges[g, first + i]
        value = edge_value(edge) if edge.visits > 0 else mixed
        draw = edge_draw(edge) if edge.visits > 0 else tree.nodes[g, 0].draw
        out[0] += policy[i] * value
        out[1] += policy[i] * draw


@compiled
def write_decision(
    tree: Tree,
    g: Index,
    best: Index,
    actions: NDArray[np.int32],
    policy: NDArray[np.float32],
    values: NDArray[np.float32],
) -> None:
    """Write row g: the root's edge `best` and the policy in `tree.scores`, edge by edge."""
    first, count = edges_of(tree, g, ROOT)
    for i in range(count):
        policy[g, i] = tree.scores[g, i]
    actions[g] = tree.edges[g, first + best].action
    write_value(tree, g, policy[g], values[g])


@compiled
def scatter_by_action(
    tree: Tree,
    g: Index,
    policy: NDArray[np.float32],
    by_action: NDArray[np.float32],
    visits: NDArray[np.int32],
) -> None:
    """Write row g of a policy and of the visits by action, from those of the root's edges."""
    first, count = edges_of(tree, g, ROOT)
    by_action[g, :] = 0.0
    visits[g, :] = 0
    for i in range(count):
        by_action[g, tree.edges[g, first + i].action] = policy[g, i]
        visits[g, tree.edges[g, first + i].action] = tree.edges[g, first + i].visits
