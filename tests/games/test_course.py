"""A game under way: repetition is noticed, and moves can be taken back."""

import pytest

from rookery.base import IllegalPosition
from rookery.games import DRAW, ONGOING, Course, game

CHESS, CONNECT4 = game("chess"), game("connect4")
SHUFFLE = "Nf3 Nf6 Ng1 Ng8"


def play(course: Course, moves: str) -> None:
    for move in moves.split():
        course.play(course.game.module.read_move(course.state, move))


def test_the_third_repetition_ends_the_game() -> None:
    course = Course(CHESS)
    play(course, SHUFFLE)
    assert CHESS.rules.outcome(course.state) == ONGOING and course.state.repeats == 1
    play(course, SHUFFLE)
    assert CHESS.rules.outcome(course.state) == DRAW


def test_moves_taken_back_are_forgotten() -> None:
    course = Course(CHESS)
    play(course, f"{SHUFFLE} {SHUFFLE}")
    course.take_back(4)
    assert len(course.actions) == 4 and course.state.repeats == 1
    assert CHESS.rules.outcome(course.state) == ONGOING


def test_a_position_may_be_followed_by_moves() -> None:
    course = Course.read(CHESS, f"startpos moves {SHUFFLE} {SHUFFLE}")
    assert CHESS.rules.outcome(course.state) == DRAW and len(course.actions) == 8


def test_moves_alone_are_remembered_too() -> None:
    course = Course.read(CHESS, f"{SHUFFLE} {SHUFFLE}")
    assert CHESS.rules.outcome(course.state) == DRAW and len(course.actions) == 8
    with pytest.raises(IllegalPosition, match="Nf9"):
        Course.read(CHESS, "e4 e5 Nf9")


def test_games_without_memory_are_read_as_ever() -> None:
    course = Course.read(CONNECT4, "4453")
    assert course.state.tobytes() == CONNECT4.position("4453").tobytes()
    course.play(0)
    assert course.actions == [0]
