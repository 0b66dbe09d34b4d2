"""Positions that are proved by playing ahead have the results that other solvers find."""

from typing import Any

import numpy as np
import pytest

from rookery.arena.solvers.connect4 import Connect4Solver
from rookery.games import DRAW, LOSS, ONGOING, WIN, Game, load_game
from rookery.search import SearchConfig
from rookery.search.proofs import bind
from rookery.search.simulate import bind_play
from rookery.search.tree import new_tree, reset_tree

LOST = {"chess": ["7k/R7/8/8/8/8/8/1R4K1 b - - 0 1"], "connect4": ["33445"]}
"""Whatever is played, the opponent wins with the next move."""


def prove(rules: Game, state: Any, nodes: int, *, simulations: int = 16) -> tuple[int, int]:
    """Return what at most `nodes` positions prove about a leaf, and its winning move or -1."""
    tree = new_tree(rules, 1, simulations, proves_leaves=True)
    tree.states[0, 0] = state
    reset_tree(tree, 0)
    settings = SearchConfig(proof_nodes=nodes).settings(explore=False)
    bind(rules.rules, bind_play(rules.rules), proves_leaves=True).prove_leaf(
        tree, settings, np.int64(0), np.int64(0)
    )
    record = tree.nodes[0, 0]
    assert tree.searches[0].path_length == 0 and record.num_edges == (record.proof == WIN)
    return int(record.proof), int(tree.edges[0, 0].action) if record.proof == WIN else -1


def play_all_lines(rules: Game, state: Any, plies: int) -> int:
    """Return what all lines of `plies` moves prove, by the rules alone."""
    if (outcome := int(rules.rules.outcome(state))) != ONGOING or plies == 0:
        return outcome
    outcomes = [
        play_all_lines(rules, after(rules, state, action), plies - 1)
        for action in rules.legal_actions(state)
    ]
    if LOSS in outcomes:
        return WIN
    return ONGOING if ONGOING in outcomes else -min(outcomes)


def after(rules: Game, state: Any, action: int) -> Any:
    """Return the position after a move."""
    found = state.copy()
    rules.rules.play(found, action)
    return found


def test_positions_of_tictactoe_are_solved() -> None:
    rules, found = load_game("tictactoe"), set()
    for state in rules.random_states(60, seed=1):
        if len(rules.legal_actions(state)) <= 6:
            proof, _ = prove(rules, state, 100_000)
            assert proof == play_all_lines(rules, state, 9)
            found.add(proof)
    assert found == {WIN, DRAW, LOSS}


@pytest.mark.parametrize("nodes", [1, 40, 3000])
def test_proofs_of_connect4_agree_with_the_solver(nodes: int) -> None:
    rules, solver, found = load_game("connect4"), Connect4Solver(), set()
    for state in rules.random_states(200, seed=2):
        if int(state.stones).bit_count() < 16:
            continue
        proof, action = prove(rules, state, nodes)
        found.add(proof)
        if proof != ONGOING:
            assert np.sign(solver.score(state)) == proof
        if proof == WIN:
            assert rules.rules.outcome(after(rules, state, action)) == LOSS or (
                solver.score(after(rules, state, action)) < 0
            )
    assert nodes == 1 or {WIN, LOSS, ONGOING} <= found


@pytest.mark.parametrize(("name", "plies"), [("connect4", 4), ("chess", 2)])
def test_short_lines_are_not_missed(name: str, plies: int) -> None:
    rules, found = load_game(name), set()
    states = list(rules.random_states(40 if name == "connect4" else 6, seed=3))
    states += [rules.position(text) for text in LOST[name]]
    for state in states:
        if (expected := play_all_lines(rules, state, plies)) != ONGOING:
            assert prove(rules, state, 5000)[0] == expected
            found.add(expected)
    assert found == {WIN, LOSS}


def test_a_small_budget_leaves_the_position_to_the_network() -> None:
    rules = load_game("connect4")
    position = rules.position("112233")  # the fourth move wins
    assert prove(rules, position, 3) == (ONGOING, -1)
    assert prove(rules, position, 4) == (WIN, 3)


def test_a_full_path_ends_the_lines() -> None:
    rules = load_game("connect4")
    tree = new_tree(rules, 1, 1, proves_leaves=True)
    tree.states[0, 0] = rules.position("112233")
    reset_tree(tree, 0)
    tree.searches[0].path_length = tree.path.shape[1]
    settings = SearchConfig(proof_nodes=100).settings(explore=False)
    proofs = bind(rules.rules, bind_play(rules.rules), proves_leaves=True)
    proofs.prove_leaf(tree, settings, np.int64(0), np.int64(0))
    assert tree.nodes[0, 0].proof == ONGOING
