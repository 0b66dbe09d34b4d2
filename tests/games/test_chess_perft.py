"""Perft of chess in the six standard positions."""

from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from rookery.base import compiled
from rookery.games import Game, load_game

CHESS = load_game("chess")
TABLE = Path(__file__).with_name("chess_perft.epd")
EVERYDAY = 20_000_000
"""Largest number of lines in an everyday test: a second or two."""


@cache
def make_perft(rules: ModuleType) -> Any:
    @compiled
    def perft(states: Any, moves: Any, left: Any) -> Any:
        """Count the lines of len(states) - 1 plies from states[0]; every last move is made."""
        depth, last, lines = 0, len(states) - 1, 0
        left[0] = rules.legal(states[0], moves[0])
        while depth >= 0:
            if depth == last or left[depth] == 0:
                lines += depth == last
                depth -= 1
                continue
            left[depth] -= 1
            states[depth + 1] = states[depth]
            rules.play(states[depth + 1], moves[depth, left[depth]])
            depth += 1
            if depth < last:
                left[depth] = rules.legal(states[depth], moves[depth])
        return lines

    return perft


def count_lines(fen: str, depth: int, rules: Game = CHESS) -> int:
    states = rules.blank_states(depth + 1)
    states[0] = rules.position(fen)
    moves = np.zeros((depth + 1, rules.max_legal), np.int32)
    return int(make_perft(rules.rules)(states, moves, np.zeros(depth + 1, np.int64)))


def cases() -> list[Any]:
    found = []
    for row in TABLE.read_text().splitlines():
        fen, *counts = (part.strip() for part in row.split(";"))
        for depth, lines in (count[1:].split() for count in counts):
            is_slow = int(lines) > EVERYDAY
            marks = [pytest.mark.slow] if is_slow else []
            name = f"{fen.split()[0][:12]}-{depth}"
            found.append(pytest.param(fen, int(depth), int(lines), id=name, marks=marks))
    return found


@pytest.mark.parametrize(("fen", "depth", "lines"), cases())
def test_perft_equals_the_published_counts(fen: str, depth: int, lines: int) -> None:
    assert count_lines(fen, depth) == lines


def test_a_variant_has_the_same_perft() -> None:
    kiwipete = TABLE.read_text().splitlines()[1].split(" ;")[0]
    assert count_lines(kiwipete, 4, load_game("chess:history=3")) == 4_085_603
