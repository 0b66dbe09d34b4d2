"""Gumbel search: which move a simulation takes, and the policy it teaches.

Danihelka et al., "Policy improvement by planning with Gumbel", ICLR 2022. At the root,
sequential halving over the moves with the best Gumbel-perturbed scores; below it, the move whose
share of visits lags most behind the improved policy.
"""

import math

import numpy as np
from numpy.typing import NDArray

from rookery.base import Index, Number, compiled
from rookery.games import LOSS
from rookery.search.settings import Settings
from rookery.search.tree import ROOT, Tree, edge_proof, edge_value, edges_of

NEVER = np.float32(-1e30)


def considered_visits(num_considered: int, simulations: int) -> list[int]:
    """For each simulation at the root, how many visits the move it takes must have so far."""
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


def visit_table(considered: int, simulations: int) -> NDArray[np.int32]:
    """[considered + 1, simulations] `considered_visits` for every number of moves."""
    rows = [considered_visits(count, simulations) for count in range(considered + 1)]
    return np.array(rows, np.int32).reshape(considered + 1, simulations)


@compiled
def sum_visits(tree: Tree, g: Index, node: Index) -> Index:
    """Simulations that went through the edges of `node`."""
    first, count = edges_of(tree, g, node)
    total = 0
    for edge in range(first, first + count):
        total += tree.edges[g, edge].visits
    return total


@compiled
def mixed_value(tree: Tree, g: Index, node: Index) -> Number:
    """What an unvisited move is worth: the net's value mixed with the visited moves' (app. D)."""
    first, count = edges_of(tree, g, node)
    total = 0
    priors = np.float32(0.0)
    weighted = np.float32(0.0)
    for edge in range(first, first + count):
        if tree.edges[g, edge].visits > 0:
            prior = math.exp(tree.edges[g, edge].log_prior)
            total += tree.edges[g, edge].visits
            priors += prior
            weighted += prior * edge_value(tree, g, edge)
    value = tree.nodes[g, node].value
    if total == 0:
        return value
    return (value + np.float32(total) * weighted / priors) / np.float32(1 + total)


@compiled
def score_edges(tree: Tree, settings: Settings, g: Index, node: Index) -> None:
    """Write log prior + weighted completed value of each edge into `tree.scores`."""
    first, count = edges_of(tree, g, node)
    most = 0
    for edge in range(first, first + count):
        most = max(most, tree.edges[g, edge].visits)
    weight = np.float32(0.5) * settings.c_scale * (settings.c_visit + np.float32(most))
    mixed = mixed_value(tree, g, node)
    for i in range(count):
        value = mixed
        if tree.edges[g, first + i].visits > 0:
            value = edge_value(tree, g, first + i)
        tree.scores[g, i] = tree.edges[g, first + i].log_prior + weight * value


@compiled
def softmax_scores(tree: Tree, g: Index, count: Index) -> None:
    """Turn the first `count` scores into probabilities."""
    highest = NEVER
    for i in range(count):
        highest = max(highest, tree.scores[g, i])
    total = np.float32(0.0)
    for i in range(count):
        tree.scores[g, i] = math.exp(tree.scores[g, i] - highest)
        total += tree.scores[g, i]
    for i in range(count):
        tree.scores[g, i] /= total


@compiled
def select_root(tree: Tree, settings: Settings, table: NDArray[np.int32], g: Index) -> Index:
    """The root's edge by sequential halving."""
    score_edges(tree, settings, g, ROOT)
    first, count = edges_of(tree, g, ROOT)
    wanted = table[min(count, settings.considered), sum_visits(tree, g, ROOT)]
    best, best_score = first, NEVER
    for i in range(count):
        score = tree.scores[g, i] + settings.gumbel_scale * tree.noise[g, i]
        if tree.edges[g, first + i].visits == wanted and score > best_score:
            best, best_score = first + i, score
    return best


@compiled
def select_inner(tree: Tree, settings: Settings, g: Index, node: Index) -> Index:
    """The edge whose visits lag most behind the improved policy; no proved loss."""
    score_edges(tree, settings, g, node)
    first, count = edges_of(tree, g, node)
    softmax_scores(tree, g, count)
    share = np.float32(1.0) / np.float32(1 + sum_visits(tree, g, node))
    best, best_score = first, NEVER
    for i in range(count):
        score = tree.scores[g, i] - np.float32(tree.edges[g, first + i].visits) * share
        is_lost = settings.prove and edge_proof(tree, g, first + i) == LOSS
        if score > best_score and not is_lost:
            best, best_score = first + i, score
    return best
