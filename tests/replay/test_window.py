"""The window: how it grows, what it drops, and what it says about itself."""

import math
from pathlib import Path

import numpy as np
import pytest

import wide
from rookery.base import ConfigError
from rookery.games import Game, load_game
from rookery.games.game import from_module
from rookery.replay import (
    ReplayConfig,
    Rows,
    Window,
    concatenate,
    count,
    hash_states,
    read_shard,
    shard_path,
    write_shard,
)
from rookery.replay.rows import UNIT, select
from rookery.replay.statistics import WindowStatistics
from slow_replay import equal, random_rows, same

TICTACTOE, CHESS, WIDE = load_game("tictactoe"), load_game("chess"), from_module(wide)


@pytest.fixture
def parts() -> list[Rows]:
    return [random_rows(TICTACTOE, 5, seed, iteration=seed) for seed in range(8)]


def held(window: Window) -> Rows:
    return window.newest(len(window))


def test_capacity_grows_between_its_bounds() -> None:
    config = ReplayConfig(window_min=100, window_max=1000, window_growth=0.5)
    found = [config.capacity(made) for made in (0, 200, 500, 2000, 9999)]
    assert found == [100, 100, 250, 1000, 1000]


@pytest.mark.parametrize("growth", [0.0, 0.5, 0.9, 2.0])
@pytest.mark.parametrize("maximum", [31, 70, 1000])
def test_the_window_is_the_newest_rows(parts: list[Rows], growth: float, maximum: int) -> None:
    config = ReplayConfig(window_min=30, window_max=maximum, window_growth=growth)
    window = Window(TICTACTOE, config)
    for number, part in enumerate(parts):
        assert window.add(part) == number
        made = concatenate(parts[: number + 1])
        size = min(count(made), config.capacity(count(made)))
        assert len(window) == size and window.rows_made == count(made)
        assert same(held(window), select(made, slice(count(made) - size, None)))
        assert same(window.newest(7), select(made, slice(-7, None)))


def test_a_shard_is_needed_while_one_of_its_rows_is_left(parts: list[Rows]) -> None:
    size = count(parts[1]) + 1
    window = Window(TICTACTOE, ReplayConfig(window_min=size, window_max=size))
    window.add(parts[0])
    window.add(parts[1])
    assert window.shard_numbers == (0, 1)
    window.add(select(parts[2], slice(0, 1)))
    assert window.shard_numbers == (1, 2)


def test_of_a_shard_larger_than_the_window_the_newest_rows_remain(parts: list[Rows]) -> None:
    window = Window(TICTACTOE, ReplayConfig(window_min=10, window_max=10))
    window.add(parts[0])
    window.add(parts[1])
    assert same(held(window), select(parts[1], slice(-10, None)))
    assert window.shard_numbers == (1,)


@pytest.mark.parametrize("growth", [0.0, 0.3, 0.9])
@pytest.mark.parametrize("num_shards", range(1, 8))
def test_a_window_read_back_continues_like_the_one_that_was_lost(
    tmp_path: Path, parts: list[Rows], num_shards: int, growth: float
) -> None:
    config = ReplayConfig(window_min=30, window_max=70, window_growth=growth)
    lost, found = Window(TICTACTOE, config), Window(TICTACTOE, config)
    for part in parts[:num_shards]:
        write_shard(shard_path(tmp_path, lost.add(part)), part, game=TICTACTOE)
    shards = [
        (number, read_shard(shard_path(tmp_path, number), game=TICTACTOE))
        for number in lost.shard_numbers
    ]
    found.refill(shards, lost.rows_made)
    for _ in range(2):
        assert same(held(found), held(lost))
        assert found.shard_numbers == lost.shard_numbers
        assert found.statistics(9) == lost.statistics(9)
        batches = [
            window.batch(np.array([99]), np.arange(40), stream=np.uint64(5), result_mix=0.5)
            for window in (lost, found)
        ]
        assert equal(*batches)
        assert lost.add(parts[-1]) == found.add(parts[-1])


def test_a_window_enlarged_on_resume_holds_only_what_was_loaded(parts: list[Rows]) -> None:
    window = Window(TICTACTOE, ReplayConfig(window_min=10, window_max=1000))
    window.refill([(3, parts[0])], rows_made=1000)
    assert same(held(window), parts[0])
    assert window.next_shard == 4


@pytest.mark.parametrize("game", [CHESS, WIDE], ids=lambda game: game.name)
def test_rows_of_many_legal_actions_widen_the_ring(game: Game) -> None:
    made = random_rows(game, 1, seed=3, max_plies=60)
    order = np.argsort(made.num_legal, kind="stable")
    made = Rows(*(column[order] for column in made))
    window = Window(game, ReplayConfig(window_min=50, window_max=50))
    widths = []
    for row in range(count(made)):
        part = select(made, slice(row, row + 1))
        width = int(part.num_legal[0])
        window.add(part._replace(legal=part.legal[:, :width], policy=part.policy[:, :width]))
        widths.append(window._ring.legal.shape[1])
        assert same(held(window), select(made, slice(max(0, row - 49), row + 1)))
    assert widths[-1] <= game.max_legal and len(set(widths)) <= 6, "widths are doubled"
    window.batch(np.array([0]), np.arange(9), stream=np.uint64(5), result_mix=0.5)


def test_statistics_agree_with_numpy(parts: list[Rows]) -> None:
    window = Window(TICTACTOE, ReplayConfig(window_min=60, window_max=60))
    for part in parts[:4]:
        window.add(part)
    rows, found = held(window), window.statistics(5)
    assert count(rows) == found.rows == 60
    assert found.rows_made == sum(map(count, parts[:4]))
    assert found.mean_age == pytest.approx(np.mean(5 - rows.iterations))
    distinct = len({state.tobytes() for state in rows.states})
    assert found.duplicate_share == pytest.approx(1 - distinct / 60)
    pairs = zip(rows.policy / UNIT, rows.num_legal, strict=True)
    entropies = [-sum(p * math.log(p) for p in row[:n] if p > 0) for row, n in pairs]
    assert found.policy_entropy == pytest.approx(np.mean(entropies), rel=1e-5)


@pytest.mark.parametrize("name", ["connect4", "tictactoe", "chess"])
def test_hashes_of_states_are_equal_where_the_states_are(name: str) -> None:
    states = random_rows(load_game(name), 40, max_plies=20).states
    hashes = dict[bytes, int]()
    for state, found in zip(states, hash_states(states).tolist(), strict=True):
        assert hashes.setdefault(state.tobytes(), found) == found
    assert len(set(hashes.values())) == len(hashes) < len(states)


def test_an_empty_window_has_statistics() -> None:
    found = Window(TICTACTOE, ReplayConfig(window_min=1, window_max=1)).statistics(0)
    assert found == WindowStatistics(0, 0, mean_age=0, duplicate_share=0, policy_entropy=0)


def test_bounds_in_the_wrong_order_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"replay\.window_min"):
        ReplayConfig(window_min=10, window_max=5)
