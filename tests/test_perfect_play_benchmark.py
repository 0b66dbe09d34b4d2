"""Verdicts of `benchmarks/perfect_play.py`: the solver keeps all value, random moves do not."""

import runpy
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rookery.arena import Connect4Solver
from rookery.arena.openings import random_openings
from rookery.arena.solvers.positions import read_positions
from rookery.games import DRAW, LOSS, ONGOING, WIN, load_game

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
CONNECT4 = load_game("connect4")
LATE = 22
"""Plies after which the solver is fast."""


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return runpy.run_path(str(BENCHMARKS / "perfect_play.py"))


def test_perfect_play_keeps_the_value_of_every_opening(benchmark: dict[str, Any]) -> None:
    openings = random_openings(CONNECT4, 12, plies=LATE, seed=3)
    games = benchmark["play"]("solver", "cpu", 1, 0, openings)
    assert len(games) == 24 and all(value == result for value, result in games)
    assert {value for value, _ in games} == {-1, 0, 1}


def test_random_moves_lose_value(benchmark: dict[str, Any]) -> None:
    openings = random_openings(CONNECT4, 12, plies=LATE, seed=3)
    games = benchmark["play"]("random", "cpu", 1, 0, openings)
    assert all(result <= value for value, result in games)
    won, *_, total = benchmark["match_rows"](games)
    assert won[0] == "won" and total[:2] == ["all", "24"]
    assert 0 < int(won[5]) <= int(total[5])


def test_ordinary_positions_are_distinct_and_of_all_values() -> None:
    positions = read_positions((BENCHMARKS / "data" / "connect4_ordinary.txt").read_text("ascii"))
    states = [CONNECT4.position(position.moves) for position in positions]
    assert len({state.tobytes() for state in states}) == len(positions) >= 1000
    assert all(CONNECT4.rules.outcome(state) == ONGOING for state in states)
    best = [max(s for s in position.scores if s is not None) for position in positions]
    values = Counter(np.sign(best).tolist())
    assert min(values[value] for value in (WIN, DRAW, LOSS)) > 30
    solver = Connect4Solver(18)
    for position, state in list(zip(positions, states, strict=True))[-20:]:
        assert tuple(solver.scores(state)) == position.scores
