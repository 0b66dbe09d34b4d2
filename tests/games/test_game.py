"""The methods of Game for text: required ones, and optional ones that a game may lack."""

import pytest

from rookery.base import ConfigError
from rookery.games import GameRecord, load_game

CHESS, CONNECT4 = load_game("chess"), load_game("connect4")


def test_moves_are_read_and_written() -> None:
    state = CHESS.position("e4 e5")
    action = CHESS.read_move(state, "Nf3")
    assert CHESS.write_move(state, action) == "g1f3" and CHESS.write_san(state, action) == "Nf3"


def test_san_is_the_plain_move_in_other_games() -> None:
    assert CONNECT4.write_san(CONNECT4.position("44"), 3) == "4"


def test_optional_notation_is_announced() -> None:
    assert CHESS.has_repetitions and CHESS.has_position_notation and CHESS.has_game_notation
    assert not CONNECT4.has_repetitions
    assert not CONNECT4.has_position_notation and not CONNECT4.has_game_notation


def test_missing_notation_is_reported() -> None:
    with pytest.raises(ConfigError, match="connect4 has no notation for positions"):
        CONNECT4.write_position(CONNECT4.position("44"))
    with pytest.raises(ConfigError, match="connect4 has no notation for games"):
        CONNECT4.read_games("44")
    with pytest.raises(ConfigError, match="connect4 has no notation for games"):
        CONNECT4.write_games([GameRecord((3,), 0)])


def test_the_path_is_the_rules_file() -> None:
    assert CONNECT4.path.name == "connect4.py" and CONNECT4.digest == ""


def test_the_repr_of_a_game_is_one_line() -> None:
    assert repr(load_game("connect4")) == "<Game connect4, 7 actions, planes 2 x 6 x 7>"
