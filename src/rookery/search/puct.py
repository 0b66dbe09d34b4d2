"""PUCT: the move of the highest value plus a bonus for a high prior and few visits.

Silver et al., "A general reinforcement learning algorithm ...", Science 2018, with the weight of
priors growing slowly with the visits.
"""

import math

import numpy as np

from rookery.base import Index, Number, compiled, uniform
from rookery.games import LOSS
from rookery.search.gumbel import NEVER
from rookery.search.settings import Settings
from rookery.search.tree import Tree, edge_value, edges_of


@compiled
def survey(tree: Tree, g: Index, node: Index) -> tuple[Index, Number]:
    """Simulations through `node`, and the mean over the net's value and all of them."""
    first, count = edges_of(tree, g, node)
    total, value = np.int64(0), tree.nodes[g, node].value
    for index in range(first, first + count):
        edge = tree.edges[g, index]
        total += edge.visits
        value += edge.value_sum
    return total, value / np.float32(1 + total)


@compiled
def noisy_prior(tree: Tree, settings: Settings, g: Index, node: Index, i: Index) -> Number:
    """The prior of edge i of `node`, with noise mixed in at the root."""
    prior = tree.edges[g, tree.nodes[g, node].first_edge + i].prior
    if node == 0:
        prior += settings.noise_fraction * (tree.noise[g, i] - prior)
    return prior


@compiled
def select_puct(tree: Tree, settings: Settings, g: Index, node: Index) -> Index:
    """The edge of the highest value plus bonus; no proved loss."""
    first, count = edges_of(tree, g, node)
    total, mean = survey(tree, g, node)
    growth = math.log((np.float32(total) + settings.c_base + np.float32(2.0)) / settings.c_base)
    bonus = (settings.c_init + growth) * math.sqrt(np.float32(total + 1))
    best, best_score = first, NEVER
    for i in range(count):
        edge = tree.edges[g, first + i]
        value = edge_value(edge) if edge.visits > 0 else mean - settings.first_play_reduction
        prior = noisy_prior(tree, settings, g, node, i)
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
