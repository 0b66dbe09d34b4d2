"""Proofs of new positions: all lines of a few plies are played before the network is asked."""

from types import ModuleType

import numpy as np

from rookery.base import Index, compiled, namespace
from rookery.games import LOSS, ONGOING, WIN
from rookery.search.tree import UNVISITED, Tree, add_edges, capacity


@compiled
def prove_nothing(tree: Tree, g: Index, node: Index) -> tuple[Index, Index]:
    """Return what is known without a move."""
    return np.int64(ONGOING), np.int64(UNVISITED)


def _bind_lines(rules: ModuleType, play: ModuleType, plies: int) -> ModuleType:
    """Bind `best(tree, g, node)`: what lines of `plies` moves prove about a position.

    It returns the result for the player to move, and the index of the winning move in
    `tree.legal[g, plies]` if there is one. The game is not over there, and the path ends there.
    """
    if plies == 0:
        return namespace(f"{rules.__name__}.search.lines.0", {"best": prove_nothing})
    shorter = _bind_lines(rules, play, plies - 1)

    @compiled
    def try_moves(tree, g, node, count, goes_on):  # type: ignore[no-untyped-def]
        """Try each move, and the lines after it if `goes_on`."""
        child = capacity(tree) + plies
        proof: Index = np.int64(LOSS)
        for index in range(count):
            outcome = play.play_move(tree, g, node, np.int64(tree.legal[g, plies, index]), child)
            if outcome == ONGOING and goes_on:
                outcome, _ = shorter.best(tree, g, child)
            if outcome == LOSS:
                return np.int64(WIN), np.int64(index)
            if outcome == ONGOING:
                proof = np.int64(ONGOING)
                if goes_on and plies == 2:
                    break  # no line of two plies wins
            elif proof != ONGOING:
                proof = max(proof, -outcome)
        return proof, np.int64(UNVISITED)

    moves = namespace(f"{rules.__name__}.search.moves.{plies}", [try_moves])

    @compiled
    def best(tree, g, node):  # type: ignore[no-untyped-def]
        search = tree.searches[g]
        length = np.int64(search.path_length)
        tree.path[g, length].node = node
        search.path_length = length + 1
        count = np.int64(rules.legal(tree.states[g, node], tree.legal[g, plies]))
        proof, index = moves.try_moves(tree, g, node, count, False)
        if proof == ONGOING and plies > 1:
            proof, index = moves.try_moves(tree, g, node, count, True)
        search.path_length = length
        return proof, index

    return namespace(f"{rules.__name__}.search.lines.{plies}", [best])


def bind(rules: ModuleType, play: ModuleType, plies: int) -> ModuleType:
    """Bind `prove_leaf(tree, g, node)`."""
    lines = _bind_lines(rules, play, plies)

    @compiled
    def prove_leaf(tree, g, node):  # type: ignore[no-untyped-def]
        """Prove a new leaf if lines of `plies` moves do; it then needs no evaluation.

        A winning move becomes its only edge. The scratch node is left alone.
        """
        is_too_deep = tree.searches[g].path_length + plies > tree.path.shape[1]
        if node == capacity(tree) or is_too_deep or tree.nodes[g, node].proof != ONGOING:
            return
        proof, index = lines.best(tree, g, node)
        tree.nodes[g, node].proof = proof
        if proof == WIN:
            edge = tree.edges[g, add_edges(tree, g, node, np.int64(1))]
            edge.action = tree.legal[g, plies, index]
            edge.proof = WIN
            edge.prior = 1.0
            edge.log_prior = 0.0

    return namespace(f"{rules.__name__}.search.proofs.{plies}", [prove_leaf])
