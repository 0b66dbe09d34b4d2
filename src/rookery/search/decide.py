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
    """The root's value and draw probability: proved, else the mean under `policy`."""
    proof = tree.nodes[g, 0].proof
    if proof != ONGOING:
        out[0], out[1] = np.float32(proof), np.float32(proof == 0)
        return
    first, count = edges_of(tree, g, ROOT)
    _, _, mixed = gumbel.survey(tree, g, ROOT)
    out[0], out[1] = 0.0, 0.0
    for i in range(count):
        edge = tree.edges[g, first + i]
        value = edge_value(edge) if edge.visits > 0 else mixed
        draw = edge_draw(edge) if edge.visits > 0 else tree.nodes[g, 0].draw
        out[0] += policy[edge.action] * value
        out[1] += policy[edge.action] * draw


@compiled
def write_decision(
    tree: Tree,
    g: Index,
    best: Index,
    actions: NDArray[np.int32],
    policy: NDArray[np.float32],
    visits: NDArray[np.int32],
    values: NDArray[np.float32],
) -> None:
    """Write row g: the root's edge `best` and the policy in `tree.scores`."""
    first = tree.nodes[g, 0].first_edge
    policy[g, :] = 0.0
    visits[g, :] = 0
    for i in range(tree.nodes[g, 0].num_edges):
        policy[g, tree.edges[g, first + i].action] = tree.scores[g, i]
        visits[g, tree.edges[g, first + i].action] = tree.edges[g, first + i].visits
    actions[g] = tree.edges[g, first + best].action
    write_value(tree, g, policy[g], values[g])
