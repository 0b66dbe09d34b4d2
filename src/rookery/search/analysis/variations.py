"""Principal variations of one tree."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rookery.base import Index, compiled
from rookery.games import LOSS, ONGOING, WIN, Action, State
from rookery.search.tree import ROOT, UNVISITED, Tree, edge_draw, edge_value, edges_of

LineFrom = Callable[[State], Sequence[Action]]
"""Returns the moves from a position that was proved as a leaf to the end of the game."""
PROVED_SCORE = 1e12
"""Score of a proved win, far above any visit count; negated, of a proved loss."""


@dataclass(frozen=True)
class Variation:
    """A move and its best continuation. Values are for the player who makes the move."""

    actions: tuple[Action, ...]
    visits: int
    value: float
    """From -1 (loss) to 1 (win)."""
    draw: float
    """Draw probability."""
    proof: int
    """ONGOING, or the proved WIN, DRAW or LOSS."""
    plies: int
    """Plies to the end of the game if a win or loss is proved, else 0."""
    prior: float = 0.0
    """Probability of the move in the policy of the network."""

    @property
    def wdl(self) -> tuple[float, float, float]:
        """Win, draw and loss probabilities."""
        win, loss = (1 - self.draw + self.value) / 2, (1 - self.draw - self.value) / 2
        return max(win, 0.0), self.draw, max(loss, 0.0)


@compiled
def measure_distances(tree: Tree, plies: NDArray[np.int32]) -> None:
    """Write the plies to the end of each proved node: fastest win, slowest loss."""
    for node in range(tree.searches[0].nodes_used - 1, -1, -1):
        proof, best = tree.nodes[0, node].proof, np.int64(-1)
        first, count = edges_of(tree, ROOT, np.int64(node))
        if proof in (WIN, LOSS):
            for index in range(first, first + count):
                edge = tree.edges[0, index]
                if edge.proof == proof:
                    length = np.int64(plies[edge.child])
                    is_better = length < best if proof == WIN else length > best
                    best = length if best < 0 or is_better else best
        plies[node] = max(best + 1, np.int64(tree.nodes[0, node].proof_plies))


def rank_edges(tree: Tree, plies: NDArray[np.int32], node: Index) -> NDArray[np.intp]:
    """Return the edges of `node`: proved wins, then by visits, then proved losses."""
    first, count = edges_of(tree, ROOT, node)
    edges = tree.edges[0, first : first + count]
    visits, proofs = edges["visits"], edges["proof"]
    means = edges["value_sum"] / np.maximum(visits, 1)
    scores = visits + np.where(visits > 0, (1 + means) / 4, edges["prior"] / 4).astype(np.float64)
    distances = plies[edges["child"]]
    scores = np.where(proofs == WIN, PROVED_SCORE - distances, scores)
    scores = np.where(proofs == LOSS, distances - PROVED_SCORE, scores)
    return first + np.argsort(-scores, kind="stable")


def read_variations(
    tree: Tree, plies: NDArray[np.int32], count: int, node: Index, line_from: LineFrom
) -> list[Variation]:
    """Return the `count` best moves of `node`, best first; `plies` [N] is scratch."""
    measure_distances(tree, plies)
    ranked = rank_edges(tree, plies, node)[:count]
    return [_variation(tree, plies, node, edge, line_from) for edge in ranked]


def _variation(
    tree: Tree, plies: NDArray[np.int32], node: Index, index: Index, line_from: LineFrom
) -> Variation:
    edge: Any = tree.edges[0, index]
    has_value = edge.visits > 0 or edge.proof != ONGOING
    parent = tree.nodes[0, node]
    is_decided = edge.proof in (WIN, LOSS)
    return Variation(
        actions=tuple(_follow(tree, plies, index, line_from)),
        visits=int(edge.visits),
        value=float(edge_value(edge) if has_value else parent.value),
        draw=float(edge_draw(edge) if has_value else parent.draw),
        proof=int(edge.proof),
        plies=int(plies[edge.child]) + 1 if is_decided else 0,
        prior=float(np.exp(edge.log_prior)),
    )


def _follow(
    tree: Tree, plies: NDArray[np.int32], index: Index, line_from: LineFrom
) -> list[Action]:
    """Return the moves from an edge on, the best at each node, while they are visited or proved."""
    actions = [int(tree.edges[0, index].action)]
    node = int(tree.edges[0, index].child)
    while node != UNVISITED:
        if tree.nodes[0, node].proof_plies > 0:
            return [*actions, *line_from(tree.states[0, node])]
        if tree.nodes[0, node].num_edges == 0:
            break
        edge: Any = tree.edges[0, rank_edges(tree, plies, node)[0]]
        if edge.visits == 0 and edge.proof == ONGOING:
            break
        actions.append(int(edge.action))
        node = int(edge.child)
    return actions
