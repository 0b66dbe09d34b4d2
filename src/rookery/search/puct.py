"""PUCT: select the move with the highest value plus an exploration bonus.

Silver et al., "A general reinforcement learning algorithm ...", Science 2018; the weight of
priors grows slowly with the visits.
"""

import math

import numpy as np
from numpy.typing import NDArray

from rookery.base import Index, Number, compiled, uniform
from rookery.games import LOSS
from rookery.search.config import Settings
from rookery.search.tree import LOWEST_SCORE, ROOT, Tree, can_choose, edge_value, edges_of


@compiled
def mean_value(tree: Tree, g: Index, node: Index) -> tuple[Index, Number]:
    """Return the total visits of `node`, and the mean of its own value and all simulations."""
    first, count = edges_of(tree, g, node)
    total, value = np.int64(0), tree.nodes[g, node].value
    for index in range(first, first + count):
        edge = tree.edges[g, index]
        total += edge.visits
        value += edge.value_sum
    return total, value / np.float32(1 + total)


@compiled
def select(
    tree: Tree, settings: Settings, table: NDArray[np.int32], g: Index, node: Index
) -> Index:
    """Return the best edge that is no proved loss; `table` is unused (see `gumbel.select`)."""
    first, count = edges_of(tree, g, node)
    total, mean = mean_value(tree, g, node)
    growth = math.log((np.float32(total) + settings.c_base + np.float32(2.0)) / settings.c_base)
    bonus = (settings.c_init + growth) * math.sqrt(np.float32(total + 1))
    noise_fraction = settings.noise_fraction if node == 0 else np.float32(0.0)
    best, best_score = first, LOWEST_SCORE
    for i in range(count):
        edge = tree.edges[g, first + i]
        value = edge_value(edge) if edge.visits > 0 else mean - settings.first_play_reduction
        prior = edge.prior + noise_fraction * (tree.noise[g, i] - edge.prior)
        score = value + bonus * prior / np.float32(1 + edge.visits)
        is_lost = settings.prove and edge.proof == LOSS
        if score > best_score and not is_lost:
            best, best_score = first + i, score
    return best


@compiled
def draw_gamma(tree: Tree, g: Index, alpha: Number) -> Number:
    """Return a gamma-distributed number from stream g (Marsaglia and Tsang 2000)."""
    boost: Number = 1.0
    if alpha < 1.0:
        boost = uniform(tree.streams, g) ** (1.0 / alpha)
        alpha += 1.0
    d = alpha - 1.0 / 3.0
    while True:
        radius = math.sqrt(-2.0 * math.log(uniform(tree.streams, g)))
        normal = radius * math.cos(2.0 * math.pi * uniform(tree.streams, g))
        cube = (1.0 + normal / math.sqrt(9.0 * d)) ** 3
        if cube > 0.0:
            limit = 0.5 * normal * normal + d - d * cube + d * math.log(cube)
            if math.log(uniform(tree.streams, g)) < limit:
                return d * cube * boost


@compiled
def draw_noise(tree: Tree, settings: Settings, g: Index) -> None:
    """Draw the Dirichlet noise of the root's edges from gamma draws."""
    total = np.float32(0.0)
    for i in range(tree.nodes[g, 0].num_edges):
        tree.noise[g, i] = draw_gamma(tree, g, settings.noise_alpha)
        total += tree.noise[g, i]
    for i in range(tree.nodes[g, 0].num_edges):
        tree.noise[g, i] /= total


@compiled
def score_root(tree: Tree, settings: Settings, g: Index) -> Index:
    """Write the shares of visits to `tree.scores` and return the index of the best move."""
    first, count = edges_of(tree, g, ROOT)
    total = np.float32(0.0)
    best, best_score = 0, np.float32(-1.0)
    for i in range(count):
        is_allowed = can_choose(tree, settings, g, first + i)
        tree.scores[g, i] = (
            np.float32(tree.edges[g, first + i].visits) if is_allowed else np.float32(0.0)
        )
        total += tree.scores[g, i]
        if is_allowed and tree.scores[g, i] > best_score:
            best, best_score = i, tree.scores[g, i]
    for i in range(count):
        tree.scores[g, i] /= max(total, np.float32(1.0))
    if total == 0:
        tree.scores[g, best] = 1.0
    return best
