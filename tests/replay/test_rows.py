"""Rows: they survive files and messages, join at any width, and tell their games apart."""

import numpy as np
import pytest

from rookery.base import RunFolderError
from rookery.games import Game, load_game
from rookery.replay import (
    concatenate,
    copy_row,
    count,
    from_columns,
    game_starts,
    games_in,
    new_rows,
    to_columns,
    to_unit,
)
from rookery.replay.rows import select
from slow_replay import random_rows, same

CONNECT4, TICTACTOE = load_game("connect4"), load_game("tictactoe")


@pytest.mark.parametrize("name", ["connect4", "tictactoe", "chess"])
def test_columns_hold_the_rows_without_padding(name: str) -> None:
    game = load_game(name)
    rows = random_rows(game, 4, iteration=7, max_plies=30)
    columns = to_columns(rows)
    assert columns["legal"].shape == columns["policy"].shape == (rows.num_legal.sum(),)
    assert not any(column.dtype.names for column in columns.values())
    found = from_columns(columns, game=game)
    assert same(found, rows)
    assert found.legal.shape[1] == rows.num_legal.max()
    assert found.states.dtype == rows.states.dtype


def test_no_rows_survive_as_columns() -> None:
    found = from_columns(to_columns(new_rows(CONNECT4, 0)), game=CONNECT4)
    assert count(found) == 0 and found.moves.dtype == np.int16


def test_columns_of_other_states_are_refused() -> None:
    columns = to_columns(random_rows(CONNECT4, 1))
    with pytest.raises(RunFolderError, match="a tictactoe state has 4 bytes, these rows have 16"):
        from_columns(columns, game=TICTACTOE)


def test_a_million_connect_four_rows_take_under_80_megabytes() -> None:
    rows = random_rows(CONNECT4, 100)
    size = sum(column.nbytes for column in to_columns(rows).values())
    assert size / count(rows) < 80


def test_parts_join_to_the_whole_at_any_width() -> None:
    whole = random_rows(CONNECT4, 6)
    narrow = from_columns(to_columns(select(whole, slice(0, 0))), game=CONNECT4)
    for cut in (0, 1, 50, count(whole)):
        parts = select(whole, slice(0, cut)), select(whole, slice(cut, None))
        assert same(concatenate([narrow, *parts]), whole)


def test_joined_states_are_still_read_by_field_name() -> None:  # NumPy may drop the names
    rows = concatenate([random_rows(CONNECT4, 1, seed) for seed in range(3)])
    assert rows.states[0].stones.dtype == np.uint64


def test_one_row_can_be_copied() -> None:
    rows = random_rows(CONNECT4, 2, iteration=3)
    target = new_rows(CONNECT4, 5)
    copy_row(rows, np.int64(8), target, np.int64(2))
    assert same(select(target, slice(2, 3)), select(rows, slice(8, 9)))
    assert not target.num_legal[[0, 1, 3, 4]].any()


def test_probabilities_are_rounded_to_units() -> None:
    shares = np.random.default_rng(1).random(1000, np.float32)
    found = np.array([to_unit(share) for share in shares])
    assert np.abs(found - shares.astype(np.float64) * 32767).max() <= 0.501
    assert [to_unit(np.float32(share)) for share in (0, 1)] == [0, 32767]


def positions(game: Game, first: np.record, moves: tuple[int, ...]) -> list[bytes]:
    state, found = first.copy(), []
    for move in moves:
        found.append(state.tobytes())
        game.rules.play(state, move)
    return found


@pytest.mark.parametrize("game", [CONNECT4, TICTACTOE], ids=lambda game: game.name)
def test_games_are_found_with_their_moves_and_results(game: Game) -> None:
    parts = [random_rows(game, 1, seed) for seed in range(12)]
    games = list(games_in(concatenate(parts)))
    assert len(games) == 12
    for played, rows in zip(games, parts, strict=True):
        assert positions(game, played.first, played.moves) == [s.tobytes() for s in rows.states]
        assert played.result == rows.results[0]


def test_games_that_seem_to_continue_each_other_are_told_apart() -> None:
    first, second = (random_rows(CONNECT4, 1, seed) for seed in (1, 2))
    second.openings[:] += first.plies[-1] + 1 - second.openings
    second.plies[:] = second.openings[0] + np.arange(count(second))
    assert game_starts(concatenate([first, second])).tolist() == [0, count(first)]


def test_no_rows_are_no_games() -> None:
    assert list(games_in(new_rows(CONNECT4, 0))) == []
