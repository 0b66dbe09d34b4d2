"""Messages that help: the nearest right name, and one tree to catch."""

import pytest

from rookery import base
from rookery.base import ConfigError, RookeryError, UnknownName


def test_a_slip_of_the_pen_is_answered_with_the_nearest_name() -> None:
    error = UnknownName("game", "conect4", ["tictactoe", "connect4"])
    assert str(error) == "unknown game 'conect4'; did you mean connect4?"


def test_a_name_like_no_other_is_answered_with_all_names() -> None:
    error = UnknownName("game", "go", ["tictactoe", "connect4"])
    assert str(error) == "unknown game 'go'; known: connect4, tictactoe"


def test_every_error_is_in_the_tree_and_drawn_there() -> None:
    kinds = [value for value in vars(base).values() if isinstance(value, type)]
    errors = [kind for kind in kinds if issubclass(kind, BaseException)]
    assert len(errors) >= 8
    for error in errors:
        assert issubclass(error, RookeryError)
        assert error.__name__ in str(base.errors.__doc__)


def test_a_wrong_setting_is_a_value_error_too() -> None:
    with pytest.raises(ValueError, match="unknown setting"):
        raise UnknownName("setting", "simulatoins", ["simulations"])
    assert issubclass(UnknownName, ConfigError)
