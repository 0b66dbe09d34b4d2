"""The window: how it grows, what it drops, and what it says about itself."""

import math

import numpy as np
import pytest

from rookery.base import ConfigError
from rookery.games import load_game
from rookery.replay import ReplayConfig, Samples, Window
from rookery.replay.statistics import duplicate_share

TICTACTOE = load_game("tictactoe")


@pytest.fixture
def parts(make_records) -> list[Samples]:
    return [Samples.from_records(make_records(TICTACTOE, 5, seed), seed) for seed in range(8)]


def columns_equal(one: Samples, other: Samples) -> bool:
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in vars(one))


def test_capacity_grows_between_its_bounds():
    config = ReplayConfig(window_min=100, window_max=1000, window_growth=0.5)
    assert [config.capacity(made) for made in (0, 200, 500, 2000, 9999)] == [
        100,
        100,
        250,
        1000,
        1000,
    ]


def test_the_window_is_the_newest_rows(parts):
    window = Window(TICTACTOE, ReplayConfig(window_min=30, window_max=70, window_growth=0.5))
    for number, part in enumerate(parts):
        assert window.add(part) == number
        made = Samples.concatenate(parts[: number + 1])
        size = min(len(made), max(30, min(70, len(made) // 2)))
        assert columns_equal(window.samples, made.between(len(made) - size, len(made)))


def test_a_shard_is_needed_while_one_of_its_rows_is_left(parts):
    rows = len(parts[1]) + 1
    window = Window(TICTACTOE, ReplayConfig(window_min=rows, window_max=rows))
    window.add(parts[0])
    window.add(parts[1])
    assert window.shard_numbers == (0, 1)
    window.add(parts[2].between(0, 1))
    assert window.shard_numbers == (1, 2)


def test_a_shard_larger_than_the_window_is_cut(parts):
    window = Window(TICTACTOE, ReplayConfig(window_min=10, window_max=10))
    window.add(parts[0])
    window.add(parts[1])
    assert len(window) == 10
    assert window.shard_numbers == (1,)


def test_a_window_read_back_goes_on_like_the_one_that_was_lost(parts):
    config = ReplayConfig(window_min=30, window_max=70, window_growth=0.3)
    lost = Window(TICTACTOE, config)
    for part in parts[:-1]:
        lost.add(part)
    shards = [(number, parts[number]) for number in lost.shard_numbers]
    found = Window(TICTACTOE, config)
    found.refill(shards, lost.rows_made)
    for window in (lost, found):
        window.add(parts[-1])
    assert columns_equal(found.samples, lost.samples)
    assert found.shard_numbers == lost.shard_numbers
    assert found.statistics(9) == lost.statistics(9)


def test_age_and_entropy_agree_with_numpy(parts):
    window = Window(TICTACTOE, ReplayConfig())
    window.add(parts[2])
    window.add(parts[4])
    found = window.statistics(5)
    assert found.mean_age == pytest.approx(
        (3 * len(parts[2]) + len(parts[4])) / (len(parts[2]) + len(parts[4]))
    )
    samples = window.samples
    chances = samples.probabilities.astype(np.float64)
    rows = np.split(chances, samples.starts[1:-1])
    entropies = [-sum(p * math.log(p) for p in row if p > 0) for row in rows]
    assert found.policy_entropy == pytest.approx(np.mean(entropies), rel=1e-5)


@pytest.mark.parametrize("name", ["connect4", "tictactoe"])
def test_the_duplicate_share_is_that_of_a_set(make_records, name):
    states = Samples.from_records(make_records(load_game(name), 200), 0).states
    distinct = len({state.tobytes() for state in states})
    assert duplicate_share(states) == pytest.approx(1 - distinct / len(states))
    assert duplicate_share(states) > 0.1


def test_an_empty_window_has_statistics():
    assert Window(TICTACTOE, ReplayConfig()).statistics(0).rows == 0


def test_bounds_in_the_wrong_order_are_refused():
    with pytest.raises(ConfigError, match=r"replay\.window_min"):
        ReplayConfig(window_min=10, window_max=5)
