"""PUCT: the move of the highest value plus a bonus for a high prior and few visits.

Silver et al., "A general reinforcement learning algorithm ...", Science 2018, with the weight of
priors growing slowly with the visits.
"""

import math

import numpy as np

from rookery.base import Index, Number, compiled, uniform
from rookery.games import LOSS
from rookery.search.gumbel import NEVER, sum_visits
from rookery.search.settings import Settings
from rookery.search.tree import Tree, edge_proof, edge_value, edges_of


@compiled
def mean_value(tree: Tree, g: Index, node: Index, total: Index) -> Number:
    """The mean over the net's value and all simulations through `node`."""
    first, count = edges_of(tree, g, node)
    value = tree.nodes[g, node].value
    for edge in range(first, first + count):
        value += tree.edges[g, edge].value_sum
    return value / np.float32(1 + total)


@compiled
def noisy_prior(tree: Tree, settings: Settings, g: Index, node: Index, i: Index) -> Number:
    """The prior of edge i of `node`, with noise mixed in at the root."""
    prior = math.exp(tree.edges[g, tree.nodes[g, node].first_edge + i].log_prior)
    if node == 0:
        prior += settings.noise_fraction * (tree.noise[g, i] - prior)
    return prior


@compiled
def select_puct(tree: Tree, settings: Settings, g: Index, node: Index) -> Index:
    """The edge of the highest value plus bonus; no proved loss."""
    first, count = edges_of(tree, g, node)
    total = sum_visits(tree, g, node)
    unvisited = mean_value(tree, g, node, total) - settings.first_play_reduction
    growth = math.log((np.float32(total) + settings.c_base + np.float32(2.0)) / settings.c_base)
    bonus = (settings.c_init + growth) * math.sqrt(np.float32(total + 1))
    best, best_score = first, NEVER
    for i in range(count):
        edge = first + i
        value = edge_value(tree, g, edge) if tree.edges[g, edge].visits > 0 else unvisited
        prior = noisy_prior(tree, settings, g, node, i)
        score = value + bonus * prior / np.float32(1 + tree.edges[g, edge].visits)
        is_lost = settings.prove and edge_proof(tree, g, edge) == LOSS
        if score > best_score and not is_lost:
            best, best_score = edge, score
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
