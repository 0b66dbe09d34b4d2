"""Repetitions: the search counts positions of the game and of its own path."""

from typing import Any

import numpy as np
import pytest

from chess_boards import CHESS
from rookery.games import DRAW, Repetitions, bind_repetitions
from rookery.search import CpuSearch, Decisions, SearchConfig

LOST_POSITION = "8/1k6/8/8/8/8/1q4P1/7K b - - 0 1"
REPEATING_MOVES = "b7a7 h1h2 a7b7 h2h1 b7a7 h1h2 a7b7"
"""White can then return to h1, where the first position occurs for the third time."""
PIECE_VALUES = np.array([1, 3, 3, 5, 9, 0], np.float32)


def material(planes: Any) -> tuple[Any, Any]:
    """Evaluate positions by material, with equal priors."""
    counts = planes[:, :12].sum(axis=(2, 3)).reshape(-1, 2, 6) @ PIECE_VALUES
    lead = np.tanh((counts[:, 0] - counts[:, 1]) / 3)
    wdl = np.stack([(1 + lead) / 2, np.zeros_like(lead), (1 - lead) / 2], 1)
    return np.zeros((len(planes), CHESS.num_actions), np.float32), wdl.astype(np.float32)


def new_search(fen: str, moves: str, method: str) -> CpuSearch:
    """Return a search of the position after `moves`, with its history."""
    search = CpuSearch(
        CHESS,
        material,
        config=SearchConfig(method=method, considered=32),
        num_games=1,
        max_simulations=1600,
        explore=False,
        seed=1,
    )
    search.roots[0] = CHESS.position(fen)
    play_all(search.roots[0], search.repetitions, moves)
    return search


def play_all(state: Any, repetitions: Repetitions, moves: str) -> None:
    play = bind_repetitions(CHESS.rules).play
    for move in moves.split():
        play(repetitions, state, CHESS.read_move(state, move), 0)


def best(search: CpuSearch, decisions: Decisions) -> str:
    return str(CHESS.write_move(search.roots[0], int(decisions.actions[0])))


@pytest.mark.parametrize("method", ["gumbel", "puct"])
def test_the_losing_side_repeats_the_position(method: str) -> None:
    search = new_search(LOST_POSITION, REPEATING_MOVES, method)
    found = search.run(200)
    assert best(search, found) == "h2h1"
    assert found.values[0, 0] > -0.2


@pytest.mark.parametrize("method", ["gumbel", "puct"])
def test_without_a_history_there_is_no_repetition(method: str) -> None:
    search = new_search(LOST_POSITION, REPEATING_MOVES, method)
    search.repetitions.counts[:] = 0
    assert search.run(200).values[0, 0] < -0.8


@pytest.mark.parametrize("method", ["gumbel", "puct"])
def test_the_winning_side_avoids_the_repetition(method: str) -> None:
    fen, moves = "7k/6p1/8/8/8/1Q6/1K6/8 b - - 0 1", "h8h7 b2a2 h7h8 a2b2 h8h7 b2a2 h7h8"
    search = new_search(fen, moves, method)
    found = search.run(200)
    assert best(search, found) != "a2b2"
    assert found.values[0, 0] > 0.8


def test_a_third_repetition_is_a_draw_in_the_tree() -> None:
    search = new_search(LOST_POSITION, REPEATING_MOVES, "gumbel")
    search.run(200)
    edges = search.tree.edges[0, : search.tree.nodes[0, 0].num_edges]
    back = CHESS.read_move(search.roots[0], "h2h1")
    proofs = {int(edge.action): int(edge.proof) for edge in edges}
    assert proofs[back] == DRAW
    assert list(proofs.values()).count(DRAW) == 1


def test_a_perpetual_check_is_found_within_the_tree() -> None:
    search = new_search("5r1k/5p1p/8/4p1Q1/8/8/qr4PP/7K w - - 0 1", "", "gumbel")
    found = search.run(1600)
    assert best(search, found) == "g5f6"
    assert found.values[0, 0] > -0.2
    states, nodes = search.tree.states[0], search.tree.nodes[0]
    drawn = [n for n in range(search.tree.searches[0].nodes_used) if states[n].repeats >= 2]
    assert drawn and all(nodes[n].proof == DRAW for n in drawn)
