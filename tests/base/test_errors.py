"""The exception tree, and its messages."""

import pytest

from rookery import base
from rookery.base import ConfigError, RookeryError, UnknownName


def test_a_misspelt_name_suggests_the_closest_one() -> None:
    error = UnknownName("game", "conect4", ["tictactoe", "connect4"])
    assert str(error) == "unknown game 'conect4'; did you mean connect4?"


def test_an_unrelated_name_lists_all_names() -> None:
    error = UnknownName("game", "go", ["tictactoe", "connect4"])
    assert str(error) == "unknown game 'go'; known: connect4, tictactoe"


def test_every_error_is_in_the_documented_tree() -> None:
    kinds = [value for value in vars(base).values() if isinstance(value, type)]
    errors = [kind for kind in kinds if issubclass(kind, BaseException)]
    assert len(errors) >= 8
    for error in errors:
        assert issubclass(error, RookeryError)
        assert error.__name__ in str(base.errors.__doc__)


def test_a_wrong_setting_is_also_a_value_error() -> None:
    with pytest.raises(ValueError, match="unknown setting"):
        raise UnknownName("setting", "simulatoins", ["simulations"])
    assert issubclass(UnknownName, ConfigError)


def test_a_long_message_is_shortened() -> None:
    text = str(RookeryError("found " + "x" * 100_000 + "\nexpected a number"))
    assert len(text) < 1010 and text.startswith("found xxx") and text.endswith("expected a number")
