"""Proofs of new positions by the rules alone, before the network is asked.

Depth by depth, lines of moves are played ahead: does the player to move win within one ply, does
the opponent within two, and so on. Each question is a depth-first search that leaves a position as
soon as one move settles it: a winning move of the attacker, or one of the defender that avoids
the loss. At most `search.proof_nodes` positions are visited. If neither player can win and all
lines have ended, the position is a draw.

The position after n moves is `tree.states[g, capacity(tree) + n]`, behind those of the tree;
`tree.line` has what is tried at each ply, and `tree.legal[g, 1 + ply]` its moves.
"""

from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rookery.base import Index, compiled, namespace
from rookery.games import DRAW, LOSS, ONGOING, WIN
from rookery.search.config import Settings
from rookery.search.tree import Tree, add_edges, capacity

REFUTED, PROVED, UNKNOWN = range(3)
"""Answers: the attacker cannot win, wins, or may win deeper or with a larger budget."""
MOVER, OPPONENT, NO_PLAYER = 0, 1, 2
"""The attacker, as the parity of the plies at which it moves."""
NO_MOVE = -1


@compiled
def move_to_front(moves: NDArray[np.int32], step: Any) -> None:
    """Begin with the move that settled the last position at this ply."""
    for index in range(1, step.count):
        if moves[index] == step.settled_by:
            moves[index] = moves[0]
            moves[0] = step.settled_by
            return


@compiled
def take_back(tree: Tree, g: Index, ply: Index, attacker: Index, wins: bool) -> Index:
    """Take back the moves that settle their positions, given who wins after the one at `ply`.

    Return the ply of the next move to try, or -1 if the first position is settled.
    """
    while ply >= 0 and wins == (ply % 2 == attacker):
        step = tree.line[g, ply]
        step.settled_by = tree.legal[g, 1 + ply, step.index]
        ply -= 1
    if ply >= 0:
        tree.line[g, ply].index += 1
    return ply


def _bind_line(rules: ModuleType, play: ModuleType) -> ModuleType:
    @compiled
    def enter(tree, g, ply, node):  # type: ignore[no-untyped-def]
        """Begin to try the moves of `node`, the position at `ply`."""
        step, moves = tree.line[g, ply], tree.legal[g, 1 + ply]
        tree.path[g, tree.searches[g].path_length + ply].node = node
        step.count = rules.legal(tree.states[g, node], moves)
        step.index = 0
        move_to_front(moves, step)

    @compiled
    def play_ahead(tree, g, ply):  # type: ignore[no-untyped-def]
        """Play the move that is tried at `ply`; return the outcome."""
        search, length = tree.searches[g], np.int64(tree.searches[g].path_length)
        node = np.int64(tree.path[g, length + ply].node)
        action = np.int64(tree.legal[g, 1 + ply, tree.line[g, ply].index])
        search.path_length = length + ply + 1
        outcome = play.play_move(tree, g, node, action, capacity(tree) + ply + 1)
        search.path_length = length
        return outcome

    return namespace(f"{rules.__name__}.search.line", [enter, play_ahead])


def _bind_attack(rules: ModuleType, play: ModuleType) -> ModuleType:
    line = _bind_line(rules, play)

    @compiled
    def attack(tree, g, leaf, depth, attacker, budget):  # type: ignore[no-untyped-def]
        """Return whether `attacker` wins within `depth` plies, and what is left of the budget."""
        ply: Index = np.int64(0)
        is_cut = False
        line.enter(tree, g, ply, leaf)
        while ply >= 0:
            step = tree.line[g, ply]
            if step.index < step.count:
                if budget == 0:
                    return np.int64(UNKNOWN), budget
                budget -= 1
                outcome = line.play_ahead(tree, g, ply)
                if outcome == ONGOING and ply + 1 < depth:
                    ply += 1
                    line.enter(tree, g, ply, capacity(tree) + ply)
                    continue
                is_cut = is_cut or outcome == ONGOING
                wins = outcome == LOSS and ply % 2 == attacker
            else:  # no move of the attacker wins, or all moves of the defender lose
                wins = ply % 2 != attacker
                ply -= 1
            ply = take_back(tree, g, ply, attacker, wins)
        if wins:
            return np.int64(PROVED), budget
        return np.int64(UNKNOWN if is_cut else REFUTED), budget

    return namespace(f"{rules.__name__}.search.attack", [attack])


def bind_proofs(rules: ModuleType, play: ModuleType) -> ModuleType:
    """Bind `prove_leaf(tree, settings, g, node)`."""
    attacks = _bind_attack(rules, play)

    @compiled
    def prove(tree, settings, g, leaf):  # type: ignore[no-untyped-def]
        """Return what is proved about a leaf, and within how many plies.

        Its winning move is `tree.line[g, 0].settled_by`.
        A deeper question is not asked if less is left than all before have cost.
        """
        max_depth = min(tree.line.shape[1], tree.path.shape[1] - tree.searches[g].path_length)
        for ply in range(max_depth):
            tree.line[g, ply].settled_by = NO_MOVE
        budget, refuted = np.int64(settings.proof_nodes), np.int64(NO_PLAYER)
        for depth in range(1, max_depth + 1):
            attacker = np.int64(MOVER if depth % 2 == 1 else OPPONENT)
            if attacker == refuted:
                continue
            if 2 * budget < settings.proof_nodes:
                break
            answer, budget = attacks.attack(tree, g, leaf, depth, attacker, budget)
            if answer == PROVED:
                return np.int64(WIN if attacker == MOVER else LOSS), np.int64(depth)
            if answer == REFUTED and refuted != NO_PLAYER:
                return np.int64(DRAW), np.int64(depth)
            if answer == REFUTED:
                refuted = attacker
        return np.int64(ONGOING), np.int64(0)

    proofs = namespace(f"{rules.__name__}.search.prove", [prove])

    @compiled
    def prove_leaf(tree, settings, g, node):  # type: ignore[no-untyped-def]
        """Prove a new leaf if that is possible; it then needs no evaluation.

        A winning move becomes its only edge. The scratch node is left alone.
        """
        if node == capacity(tree) or tree.nodes[g, node].proof != ONGOING:
            return
        proof, plies = proofs.prove(tree, settings, g, node)
        tree.nodes[g, node].proof = proof
        tree.nodes[g, node].proof_plies = plies if proof != DRAW else 0
        if proof == WIN:
            edge = tree.edges[g, add_edges(tree, g, node, np.int64(1))]
            edge.action = tree.line[g, 0].settled_by
            edge.proof = WIN
            edge.prior = 1.0
            edge.log_prior = 0.0

    return namespace(f"{rules.__name__}.search.proofs", [prove_leaf])


@compiled
def leave_leaf(tree: Tree, settings: Settings, g: Index, node: Index) -> None:
    """Leave a new leaf to the network."""


def bind(rules: ModuleType, play: ModuleType, *, proves_leaves: bool) -> ModuleType:
    """Bind `prove_leaf(tree, settings, g, node)`, which does nothing without `proves_leaves`."""
    if proves_leaves:
        return bind_proofs(rules, play)
    return namespace(f"{rules.__name__}.search.no_proofs", {"prove_leaf": leave_leaf})
