"""Gumbel search: move selection and the improved policy.

Danihelka et al., "Policy improvement by planning with Gumbel", ICLR 2022. The root uses
sequential halving over the moves with the best Gumbel-perturbed scores; other nodes select the
move whose share of visits is furthest below the improved policy.
"""

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

from rookery.base import Index, Number, compiled, uniform
from rookery.games import LOSS
from rookery.search.config import Settings
from rookery.search.tree import LOWEST_SCORE, ROOT, Tree, can_choose, edge_value, edges_of


def considered_visits(num_considered: int, simulations: int) -> list[int]:
    """Return, for each simulation at the root, the visit count of the move to select."""
    if num_considered <= 1:
        return list(range(simulations))
    rounds = math.ceil(math.log2(num_considered))
    visits = [0] * num_considered
    sequence: list[int] = []
    survivors = num_considered
    while len(sequence) < simulations:
        for _ in range(max(1, simulations // (rounds * survivors))):
            sequence += visits[:survivors]
            visits[:survivors] = [count + 1 for count in visits[:survivors]]
        survivors = max(2, survivors // 2)
    return sequence[:simulations]


@cache
def visit_table(considered: int, simulations: int) -> NDArray[np.int32]:
    """Return `considered_visits` for every number of moves, [considered + 1, simulations]."""
    rows = [considered_visits(count, simulations) for count in range(considered + 1)]
    return np.array(rows, np.int32).reshape(considered + 1, simulations)


@compiled
def draw_noise(tree: Tree, settings: Settings, g: Index) -> None:
    """Draw the Gumbel noise of the root's edges from stream g."""
    for i in range(tree.nodes[g, 0].num_edges):
        tree.noise[g, i] = -math.log(-math.log(uniform(tree.streams, g)))


@compiled
def completed_values(tree: Tree, g: Index, node: Index) -> tuple[Index, Index, Number]:
    """Return the total visits, the highest visit count and the value of unvisited moves.

    Unvisited moves get the network's value mixed with those of the visited moves (appendix D).
    The values of the visited moves are written to `tree.scores`.
    """
    first, count = edges_of(tree, g, node)
    total, most = np.int64(0), np.int64(0)
    priors, weighted = np.float32(0.0), np.float32(0.0)
    for i in range(count):
        edge = tree.edges[g, first + i]
        if edge.visits > 0:
            value = edge_value(edge)
            tree.scores[g, i] = value
            total += edge.visits
            most = max(most, np.int64(edge.visits))
            priors += edge.prior
            weighted += edge.prior * value
    mixed = tree.nodes[g, node].value
    if total > 0:
        mixed = (mixed + np.float32(total) * weighted / priors) / np.float32(1 + total)
    return total, most, mixed


@compiled
def score_edges(tree: Tree, settings: Settings, g: Index, node: Index) -> tuple[Index, Number]:
    """Score edges by log prior + weighted completed value; return total visits and best score."""
    total, most, mixed = completed_values(tree, g, node)
    weight = np.float32(0.5) * settings.c_scale * (settings.c_visit + np.float32(most))
    first, count = edges_of(tree, g, node)
    highest = LOWEST_SCORE
    for i in range(count):
        edge = tree.edges[g, first + i]
        value = tree.scores[g, i] if edge.visits > 0 else mixed
        score = edge.log_prior + weight * value
        tree.scores[g, i] = score
        highest = max(highest, score)
    return total, highest


@compiled
def exponentiate(tree: Tree, g: Index, count: Index, highest: Number) -> Number:
    """Replace the first `count` scores by exp(score - highest) and return their sum."""
    total = np.float32(0.0)
    for i in range(count):
        share = math.exp(tree.scores[g, i] - highest)
        tree.scores[g, i] = share
        total += share
    return total


@compiled
def softmax_scores(tree: Tree, g: Index, count: Index) -> None:
    """Replace the first `count` scores by their softmax."""
    highest = LOWEST_SCORE
    for i in range(count):
        highest = max(highest, tree.scores[g, i])
    total = exponentiate(tree, g, count, highest)
    for i in range(count):
        tree.scores[g, i] /= total


@compiled
def select_root(tree: Tree, settings: Settings, table: NDArray[np.int32], g: Index) -> Index:
    """Return the root's edge by sequential halving."""
    total, _ = score_edges(tree, settings, g, ROOT)
    first, count = edges_of(tree, g, ROOT)
    wanted = table[min(count, settings.considered), total]
    best, best_score = first, LOWEST_SCORE
    for i in range(count):
        score = tree.scores[g, i] + settings.gumbel_scale * tree.noise[g, i]
        if tree.edges[g, first + i].visits == wanted and score > best_score:
            best, best_score = first + i, score
    return best


@compiled
def select_inner(tree: Tree, settings: Settings, g: Index, node: Index) -> Index:
    """Return the edge furthest below the improved policy that is no proved loss."""
    visits, highest = score_edges(tree, settings, g, node)
    first, count = edges_of(tree, g, node)
    scale = np.float32(1.0) / exponentiate(tree, g, count, highest)
    share = np.float32(1.0) / np.float32(1 + visits)
    best, best_score = first, LOWEST_SCORE
    for i in range(count):
        edge = tree.edges[g, first + i]
        score = tree.scores[g, i] * scale - np.float32(edge.visits) * share
        is_lost = settings.prove and edge.proof == LOSS
        if score > best_score and not is_lost:
            best, best_score = first + i, score
    return best


@compiled
def select(
    tree: Tree, settings: Settings, table: NDArray[np.int32], g: Index, node: Index
) -> Index:
    """Return the edge that the simulation takes from `node`."""
    if node == 0:
        return select_root(tree, settings, table, g)
    return select_inner(tree, settings, g, node)


@compiled
def score_root(tree: Tree, settings: Settings, g: Index) -> Index:
    """Write the improved policy to `tree.scores` and return the index of the best move."""
    score_edges(tree, settings, g, ROOT)
    first, count = edges_of(tree, g, ROOT)
    most = -1
    for i in range(count):
        if can_choose(tree, settings, g, first + i):
            most = max(most, tree.edges[g, first + i].visits)
        else:
            tree.scores[g, i] = LOWEST_SCORE
    best, best_score = 0, np.float32(2.0) * LOWEST_SCORE
    for i in range(count):
        score = tree.scores[g, i] + settings.gumbel_scale * tree.noise[g, i]
        if tree.edges[g, first + i].visits == most and score > best_score:
            best, best_score = i, score
    softmax_scores(tree, g, count)
    return best
