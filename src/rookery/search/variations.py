"""What one tree says to people: its best moves, each with a value and how play would go on."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rookery.base import Index, compiled
from rookery.games import LOSS, ONGOING, WIN, Action
from rookery.search.tree import ROOT, UNVISITED, Tree, edge_draw, edge_value, edges_of

CERTAIN = 1e12
"""Far above any number of visits: what a proved win counts, and a proved loss below zero."""


@dataclass(frozen=True)
class Variation:
    """A move at the root and how play would go on. Values are for the player to move there."""

    actions: tuple[Action, ...]
    visits: int
    value: float
    """From -1, lost, to 1, won."""
    draw: float
    """How probable a draw is."""
    proof: int
    """ONGOING, or the proved WIN, DRAW or LOSS."""
    plies: int
    """Moves up to the end of the game, where a win or loss is proved."""

    @property
    def wdl(self) -> tuple[float, float, float]:
        """How probable a win, a draw and a loss are."""
        win, loss = (1 - self.draw + self.value) / 2, (1 - self.draw - self.value) / 2
        return max(win, 0.0), self.draw, max(loss, 0.0)


@compiled
def measure_ends(tree: Tree, plies: NDArray[np.int32]) -> None:
    """Write how far each proved win or loss is from its end: wins soon, losses late."""
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
        plies[node] = best + 1


def ranked(tree: Tree, plies: NDArray[np.int32], node: Index) -> NDArray[np.intp]:
    """The edges of `node`, the best first: proved wins, then by visits, proved losses last."""
    first, count = edges_of(tree, ROOT, node)
    edges = tree.edges[0, first : first + count]
    visits, proofs = edges["visits"], edges["proof"]
    means = edges["value_sum"] / np.maximum(visits, 1)
    scores = visits + np.where(visits > 0, (1 + means) / 4, edges["prior"] / 4).astype(np.float64)
    ends = plies[edges["child"]]
    scores = np.where(proofs == WIN, CERTAIN - ends, scores)
    scores = np.where(proofs == LOSS, ends - CERTAIN, scores)
    return first + np.argsort(-scores, kind="stable")


def read_variations(tree: Tree, plies: NDArray[np.int32], count: int) -> list[Variation]:
    """The `count` best moves at the root, the best first; `plies` [N] is written anew."""
    measure_ends(tree, plies)
    return [_line(tree, plies, edge) for edge in ranked(tree, plies, ROOT)[:count]]


def _line(tree: Tree, plies: NDArray[np.int32], index: Index) -> Variation:
    edge: Any = tree.edges[0, index]
    is_known = edge.visits > 0 or edge.proof != ONGOING
    root = tree.nodes[0, 0]
    is_ended = edge.proof in (WIN, LOSS)
    return Variation(
        actions=tuple(_follow(tree, plies, index)),
        visits=int(edge.visits),
        value=float(edge_value(edge) if is_known else root.value),
        draw=float(edge_draw(edge) if is_known else root.draw),
        proof=int(edge.proof),
        plies=int(plies[edge.child]) + 1 if is_ended else 0,
    )


def _follow(tree: Tree, plies: NDArray[np.int32], index: Index) -> list[Action]:
    """The moves from an edge on, the best each time, as far as anybody has looked."""
    actions = [int(tree.edges[0, index].action)]
    node = int(tree.edges[0, index].child)
    while node != UNVISITED and tree.nodes[0, node].num_edges > 0:
        edge: Any = tree.edges[0, ranked(tree, plies, node)[0]]
        if edge.visits == 0:
            break
        actions.append(int(edge.action))
        node = int(edge.child)
    return actions
