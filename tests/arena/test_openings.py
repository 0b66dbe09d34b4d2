"""Openings of the book and random ones."""

import pytest

from rookery.arena.openings import book_openings, draw_openings, has_book, random_openings
from rookery.base import ConfigError
from rookery.games import ONGOING, load_game

TICTACTOE = load_game("tictactoe")


def test_the_book_holds_different_legal_lines_of_one_length() -> None:
    chess = load_game("chess")
    assert has_book(chess) and not has_book(TICTACTOE)
    lines = book_openings(chess, 400, seed=1)
    assert {len(line) for line in lines} == {6}
    assert len({chess.replay(line).tobytes() for line in lines}) == 400
    assert book_openings(chess, 10, seed=1) == lines[:10] != book_openings(chess, 10, seed=2)
    assert book_openings(chess, 402, seed=1)[400:] == lines[:2]
    assert draw_openings(chess, 10, plies=2, seed=1, from_book=True) == lines[:10]


def test_random_openings_repeat_only_if_there_are_no_more() -> None:
    openings = random_openings(TICTACTOE, 20, plies=1, seed=0)
    assert sorted(openings[:9]) == [(cell,) for cell in range(9)]
    assert openings[9:18] == openings[:9]
    assert draw_openings(TICTACTOE, 20, plies=1, seed=0, from_book=False) == openings


def test_random_openings_lead_to_different_positions() -> None:
    openings = random_openings(TICTACTOE, 252, plies=3, seed=0)
    assert len({TICTACTOE.replay(opening).tobytes() for opening in openings}) == 252


def test_random_openings_do_not_end_the_game() -> None:
    for opening in random_openings(TICTACTOE, 50, plies=7, seed=0):
        assert TICTACTOE.rules.outcome(TICTACTOE.replay(opening)) == ONGOING


def test_openings_longer_than_the_game_are_an_error() -> None:
    with pytest.raises(ConfigError, match="use shorter openings"):
        random_openings(TICTACTOE, 1, plies=9, seed=0)
