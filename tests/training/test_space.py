"""Search spaces: ranges and choices of settings, validated before anything is trained."""

from typing import Any

import pytest

from rookery.base import ConfigError
from rookery.games import load_game
from rookery.training import Config, apply, default_space, read_space, recipe_for
from rookery.training.tuning.space import Between, OneOf


@pytest.fixture
def config() -> Config:
    return recipe_for("connect4")


def test_texts_describe_ranges_and_choices(config: Config) -> None:
    texts = [
        "learning.learning_rate=1e-4..1e-2:log",
        "search.considered = 2..16",
        "learning.batch_size=64|128",
        "search.method=gumbel|puct",
    ]
    assert read_space(texts, config) == (
        Between("learning.learning_rate", 1e-4, 1e-2, is_whole=False, is_log=True),
        Between("search.considered", 2, 16, is_whole=True, is_log=False),
        OneOf("learning.batch_size", ("64", "128")),
        OneOf("search.method", ("gumbel", "puct")),
    )


def test_a_space_is_read_back_from_its_own_texts(config: Config) -> None:
    space = default_space(config, load_game("connect4"))
    assert read_space(map(str, space), config) == space


@pytest.mark.parametrize("name", ["connect4", "tictactoe"])
def test_the_default_space_contains_the_recipe_or_the_nearest_values(name: str) -> None:
    config = recipe_for(name)
    for dimension in default_space(config, load_game(name)):
        value: Any = dimension.usual(config)
        assert value is not None
        apply(config, [dimension.setting(value)])


def test_fixed_settings_are_not_searched(config: Config) -> None:
    names = {each.name for each in default_space(config, load_game("connect4"), ["learning.reuse"])}
    assert "learning.learning_rate" in names and "learning.reuse" not in names


def test_values_are_written_as_users_type_them(config: Config) -> None:
    rate, considered = read_space(
        ["learning.learning_rate=1e-4..1e-2", "search.considered=2..9"], config
    )
    assert isinstance(rate, Between) and isinstance(considered, Between)
    assert rate.setting(0.00123456789) == "learning.learning_rate=0.001235"
    assert considered.setting(5) == "search.considered=5"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("learning.reuse", "a space looks like"),
        ("learning.rouse=1..2", "did you mean learning.reuse?"),
        ("learning.reuse=2..1", "low < high, got '2..1'"),
        ("learning.reuse=0..1:log", "0 < low < high"),
        ("learning.reuse=1..e", "no range of numbers"),
        ("learning.reuse=3", "needs a range or several values"),
        ("learning.reuse=3|3", "needs a range or several values"),
        ("learning.result_mix=0..2", "learning.result_mix is 2.0, expected a number from 0 to 1"),
        ("search.considered=1.5..3", "is a whole number"),
        ("search.method=1..3", "is no number"),
        ("search.method=gumbel|pukt", "did you mean puct?"),
        ("search.prove=0..1", "is no number"),
    ],
)
def test_an_invalid_space_is_refused(config: Config, text: str, found: str) -> None:
    with pytest.raises(ConfigError, match=found.replace("?", r"\?").replace(".", r"\.")):
        read_space([text], config)


def test_a_setting_can_be_searched_only_once(config: Config) -> None:
    with pytest.raises(ConfigError, match="in the space twice"):
        read_space(["learning.reuse=1..2", "learning.reuse=1..3"], config)
