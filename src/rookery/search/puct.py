"""PUCT: the move of the highest value plus a bonus for a high prior and few visits.

Silver et al., "A general reinforcement learning algorithm ...", Science 2018, with the weight of
priors growing slowly with the visits.
"""

import math

import numpy as np
from numpy.typing import NDArray

from rookery.base import Index, Number, compiled, uniform
from rookery.games import LOSS
from rookery.search.config import Settings
from rookery.search.tree import NEVER, ROOT, Tree, edge_value, edges_of, may_choose


@compiled
def mean_value(tree: Tree, g: Index, node: Index) -> tuple[Index, Number]:
    """Simulations through `node`, and the mean over the net's value and all of them."""
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
    """The edge of the highest value plus bonus; no proved loss. The table is Gumbel's."""
    first, count = edges_of(tree, g, node)
    total, mean = mean_value(tree, g, node)
    growth = math.log((np.float32(total) + settings.c_base + np.float32(2.0)) / settings.c_base)
    bonus = (settings.c_init + growth) * math.sqrt(np.float32(total + 1))
    noise_fraction = settings.noise_fraction if node == 0 else np.float32(0.0)
    best, best_score = first, NEVER
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
    """A gamma-distributed number (Marsaglia and Tsang 2000), from stream g."""
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
    """One Dirichlet draw for the root's edges, made of gamma draws."""
    total = np.float32(0.0)
    for i in range(tree.nodes[g, 0].num_edges):
        tree.noise[g, i] = draw_gamma(tree, g, settings.noise_alpha)
        total += tree.noise[g, i]
    for i in range(tree.nodes[g, 0].num_edges):
        tree.noise[g, i] /= total


@compiled
def score_root(tree: Tree, settings: Settings, g: Index) -> Index:
    """Write the shares of visits into `tree.scores`; the index of the most visited move."""
    first, count = edges_of(tree, g, ROOT)
    total = np.float32(0.0)
    best, best_score = 0, np.float32(-1.0)
    for i in range(count):
        is_open = may_choose(tree, settings, g, first + i)
        tree.scores[g, i] = (
            np.float32(tree.edges[g, first + i].visits) if is_open else np.float32(0.0)
        )
        total += tree.scores[g, i]
        if is_open and tree.scores[g, i] > best_score:
            best, best_score = i, tree.scores[g, i]
    for i in range(count):
        tree.scores[g, i] /= max(total, np.float32(1.0))
    if total == 0:
        tree.scores[g, best] = 1.0
    return best
