"""Lines of a few plies prove a leaf exactly when a plain search of all lines does."""

from typing import Any

import pytest

import toy
from rookery.games import DRAW, LOSS, ONGOING, WIN, Game, States, load_game
from rookery.search import CpuSearch, SearchConfig
from rookery.search.tree import Tree

CASES = [("tictactoe", 2), ("tictactoe", 5), ("connect4", 3), ("chess", 2)]
MATES = ["6k1/5ppp/8/8/8/8/5PPP/R3R1K1 b - - 0 1", "7k/R7/8/8/8/8/8/1R4K1 w - - 0 1"]
"""Most moves of the first allow a mate; after most of the second, every reply does."""


def play_all_lines(rules: Game, state: Any, plies: int) -> int:
    """Return what all lines of `plies` moves prove, by the rules alone."""
    if (outcome := int(rules.rules.outcome(state))) != ONGOING or plies == 0:
        return outcome
    outcomes = []
    for action in rules.legal_actions(state):
        after = state.copy()
        rules.rules.play(after, action)
        outcomes.append(play_all_lines(rules, after, plies - 1))
    if LOSS in outcomes:
        return WIN
    return ONGOING if ONGOING in outcomes else -min(outcomes)


def search(rules: Game, roots: States, *, plies: int, simulations: int = 16) -> Tree:
    """Return the trees of a search from `roots`."""
    found = CpuSearch(
        rules,
        toy.hashed(rules.num_actions),
        config=SearchConfig(proof_plies=plies),
        num_games=len(roots),
        max_simulations=simulations,
        explore=True,
        seed=0,
    )
    found.roots[:] = roots
    found.run(simulations)
    return found.tree


@pytest.mark.parametrize(("name", "plies"), CASES)
def test_a_leaf_is_proved_if_its_lines_prove_it(name: str, plies: int) -> None:
    rules = load_game(name)
    roots = rules.random_states(12, seed=2)
    if name == "chess":
        roots[: len(MATES)] = [rules.position(each) for each in MATES]
    tree = search(rules, roots, plies=plies)
    proofs = set()
    for g in range(len(roots)):
        for node in range(1, tree.searches[g].nodes_used):
            record, proof = tree.nodes[g, node], play_all_lines(rules, tree.states[g, node], plies)
            proofs.add(proof)
            if proof == ONGOING:
                assert record.num_edges > 0  # it was evaluated
            else:
                assert record.proof == proof and record.num_edges == (proof == WIN)
    assert proofs >= {WIN, LOSS, ONGOING} | ({DRAW} if name == "tictactoe" else set())
