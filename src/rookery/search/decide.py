"""What a finished search says: the move, the policy it teaches, its value."""

import numpy as np
from numpy.typing import NDArray

from rookery.base import Index, compiled
from rookery.games import LOSS, ONGOING
from rookery.search import gumbel
from rookery.search.settings import PUCT, Settings
from rookery.search.tree import ROOT, Tree, edge_draw, edge_value, edges_of


@compiled
def is_admissible(tree: Tree, settings: Settings, g: Index, edge: Index) -> bool:
    """Whether the root may choose `edge`: not if it is proved to give something away."""
    proof, root = tree.edges[g, edge].proof, tree.nodes[g, 0].proof
    if not settings.prove:
        return True
    return proof != LOSS if root == ONGOING else proof == root


@compiled
def score_gumbel(tree: Tree, settings: Settings, g: Index) -> Index:
    """Write the improved policy into `tree.scores`; the index of the move to make."""
    gumbel.score_edges(tree, settings, g, ROOT)
    first, count = edges_of(tree, g, ROOT)
    most = -1
    for i in range(count):
        if is_admissible(tree, settings, g, first + i):
            most = max(most, tree.edges[g, first + i].visits)
        else:
            tree.scores[g, i] = gumbel.NEVER
    best, best_score = 0, np.float32(2.0) * gumbel.NEVER
    for i in range(count):
        score = tree.scores[g, i] + settings.gumbel_scale * tree.noise[g, i]
        if tree.edges[g, first + i].visits == most and score > best_score:
            best, best_score = i, score
    gumbel.softmax_scores(tree, g, count)
    return best


@compiled
def score_puct(tree: Tree, settings: Settings, g: Index) -> Index:
    """Write the shares of visits into `tree.scores`; the index of the most visited move."""
    first, count = edges_of(tree, g, ROOT)
    total = np.float32(0.0)
    best, best_score = 0, np.float32(-1.0)
    for i in range(count):
        is_open = is_admissible(tree, settings, g, first + i)
        tree.scores[g, i] = (
            np.float32(tree.edges[g, first + i].visits) if is_open else np.float32(0.0)
        )
        total += tree.scores[g, i]
        if tree.scores[g, i] > best_score:
            best, best_score = i, tree.scores[g, i]
    for i in range(count):
        tree.scores[g, i] /= max(total, np.float32(1.0))
    if total == 0:
        tree.scores[g, best] = 1.0
    return best


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
def decide(
    tree: Tree,
    settings: Settings,
    g: Index,
    actions: NDArray[np.int32],
    policy: NDArray[np.float32],
    visits: NDArray[np.int32],
    values: NDArray[np.float32],
) -> None:
    """Write row g of the decisions."""
    is_puct = settings.method == PUCT
    best = score_puct(tree, settings, g) if is_puct else score_gumbel(tree, settings, g)
    first = tree.nodes[g, 0].first_edge
    policy[g, :] = 0.0
    visits[g, :] = 0
    for i in range(tree.nodes[g, 0].num_edges):
        policy[g, tree.edges[g, first + i].action] = tree.scores[g, i]
        visits[g, tree.edges[g, first + i].action] = tree.edges[g, first + i].visits
    actions[g] = tree.edges[g, first + best].action
    write_value(tree, g, policy[g], values[g])
