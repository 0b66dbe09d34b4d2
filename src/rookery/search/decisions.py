"""Results of a search: the chosen move, the improved policy and the value of each root."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rookery.base import Index, compiled
from rookery.games import ONGOING
from rookery.search import gumbel
from rookery.search.tree import ROOT, Tree, edge_draw, edge_value, edges_of

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Decisions:
    """Results of G searches, with at most L legal moves. Values are for the player to move.

    actions: [G] chosen move.
    legal_policy: [G, L] improved policy over the legal moves, in the order of the rules.
    values: [G, 2] value and draw probability.
    policy: [G, A] improved policy by action.
    visits: [G, A] simulations through each root move, by action.
    """

    actions: NDArray[np.int32]
    legal_policy: Floats
    values: Floats
    policy: Floats
    visits: NDArray[np.int32]


class DecisionArrays(NamedTuple):
    """The first fields of `Decisions` as kernels take them; `policy` is over the legal moves."""

    actions: NDArray[np.int32]
    policy: Floats
    values: Floats


@compiled
def write_value(tree: Tree, g: Index, policy: Floats, out: Floats) -> None:
    """Write the root's value and draw probability: proved, or the mean under `policy`."""
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
def write_decision(tree: Tree, g: Index, best: Index, out: DecisionArrays) -> None:
    """Write row g: the action of the root's edge `best`, the policy in `tree.scores`, the value."""
    first, count = edges_of(tree, g, ROOT)
    for i in range(count):
        out.policy[g, i] = tree.scores[g, i]
    out.actions[g] = tree.edges[g, first + best].action
    write_value(tree, g, out.policy[g], out.values[g])


@compiled
def scatter_by_action(
    tree: Tree, g: Index, legal_policy: Floats, policy: Floats, visits: NDArray[np.int32]
) -> None:
    """Write row g of the policy and the visit counts by action."""
    first, count = edges_of(tree, g, ROOT)
    policy[g, :] = 0.0
    visits[g, :] = 0
    for i in range(count):
        edge = tree.edges[g, first + i]
        policy[g, edge.action] = legal_policy[g, i]
        visits[g, edge.action] = edge.visits
