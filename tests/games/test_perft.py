"""Perft of Tic-Tac-Toe and Connect Four, compared with published counts."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from rookery.base import compiled
from rookery.games import DRAW, LOSS, ONGOING, load_game


def make_perft(rules: ModuleType) -> Callable[..., None]:
    @compiled
    def perft(states: Any, moves: Any, left: Any, counts: Any) -> None:
        """Add (lines, lost, drawn) after d plies to counts[d], depth first."""
        depth = 0
        left[0] = rules.legal(states[0], moves[0])
        counts[0, 0] += 1
        while depth >= 0:
            if left[depth] == 0:
                depth -= 1
                continue
            left[depth] -= 1
            after = depth + 1
            states[after] = states[depth]
            rules.play(states[after], moves[depth, left[depth]])
            outcome = rules.outcome(states[after])
            counts[after, 0] += 1
            counts[after, 1] += outcome == LOSS
            counts[after, 2] += outcome == DRAW
            if outcome == ONGOING and after < len(states) - 1:
                depth = after
                left[depth] = rules.legal(states[depth], moves[depth])

    return perft


def count_lines(name: str, depth: int) -> list[list[int]]:
    """Return lines, lines lost for the player to move and lines drawn, by ply."""
    rules = load_game(name)
    states = rules.new_states(depth + 1)
    moves = np.zeros((depth + 1, rules.max_legal), np.int32)
    counts = np.zeros((depth + 1, 3), np.int64)
    make_perft(rules.rules)(states, moves, np.zeros(depth + 1, np.int64), counts)
    return counts.tolist()


def test_tictactoe_has_255168_games() -> None:
    counts = count_lines("tictactoe", 9)
    lines, lost, drawn = (list(column) for column in zip(*counts, strict=True))
    assert lines == [1, 9, 72, 504, 3024, 15120, 54720, 148176, 200448, 127872]
    assert sum(lost) + sum(drawn) == 255168
    assert sum(lost[1::2]) == 131184, "games won by the first player"
    assert sum(lost[0::2]) == 77904, "games won by the second player"
    assert sum(drawn) == 46080


def test_connect4_perft_equals_the_published_counts() -> None:
    lines = [row[0] for row in count_lines("connect4", 7)]
    assert lines == [1, 7, 49, 343, 2401, 16807, 117649, 823536]
