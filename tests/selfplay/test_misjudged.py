"""Misjudged positions: which are drawn, which are replaced, and the games that start from them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import toy
from rookery.base import FileDamaged, read_arrays, write_arrays
from rookery.games import Game, load_game
from rookery.replay import Rows, new_rows
from rookery.search import SearchConfig
from rookery.selfplay import CpuSelfPlay, SelfPlayConfig
from rookery.selfplay.misjudged import (
    NONE,
    MisjudgedPositions,
    draw_misjudged,
    write_errors,
)
from selfplay_games import check_end, split_games
from slow_replay import same

CONNECT4, CHESS = load_game("connect4"), load_game("chess")


def errors_of(values: list[float], results: list[int], lengths: list[int]) -> list[float]:
    errors, starts = np.empty(len(values)), np.zeros(len(values), bool)
    starts[np.cumsum([0, *lengths[:-1]])] = True
    write_errors(np.array(values, np.float32), np.array(results, np.int8), starts, errors)
    return [round(float(error), 4) for error in errors]


def finished(values: list[float], *, game: Game = CONNECT4) -> Rows:
    """Return games of one position, which end in a draw: the errors are the values."""
    rows = new_rows(game, len(values))
    rows.values[:] = values
    rows.plies[:] = rows.openings[:] = np.arange(len(values))
    return rows


def positions(num_games: int, *, share: float = 1.0, seed: int = 1) -> MisjudgedPositions:
    return MisjudgedPositions(CONNECT4, num_games, share=share, seed=seed)


def new_selfplay(game: Game = CONNECT4, **settings: Any) -> CpuSelfPlay:
    defaults: dict[str, Any] = {"games": 24, "simulations": "8", "misjudged_share": 0.5}
    config = SelfPlayConfig(**(defaults | settings))
    evaluator = toy.hashed(game.num_actions)
    return CpuSelfPlay(game, evaluator, config=config, search=SearchConfig(), seed=1)


def test_an_error_is_the_distance_to_the_rest_of_the_game() -> None:
    # The last position compares with the result, the one before with -(0.8 * -1 + 0.2 * -0.5).
    assert errors_of([0.1, -0.5], [1, -1], [2]) == [0.8, 0.5]


def test_games_do_not_mix() -> None:
    together = errors_of([0.1, -0.5, 0.3, 0.2, 0.9], [1, -1, 0, 0, 0], [2, 3])
    assert together == errors_of([0.1, -0.5], [1, -1], [2]) + errors_of(
        [0.3, 0.2, 0.9], [0] * 3, [3]
    )


def test_positions_are_drawn_by_the_squares_of_their_errors() -> None:
    chosen = positions(40_000)
    chosen.add(finished([0.0, 0.2, -0.4]))
    drawn = np.bincount(chosen.arrays.plies[:10_000], minlength=3)
    assert drawn[0] == 0
    assert drawn[2] / drawn[1] == pytest.approx(4, rel=0.15)


@pytest.mark.parametrize(
    ("num_games", "expected"),
    [(1, [5]), (4, [5, 2, 3, 4]), (5, [4, 4, 5, 5, 3]), (6, [4, 4, 5, 5, 3, 3])],
)
def test_the_oldest_positions_are_replaced(num_games: int, expected: list[int]) -> None:
    chosen = positions(num_games)
    for ply in range(1, 6):
        rows = finished([1.0])
        rows.plies[:] = rows.openings[:] = ply
        chosen.add(rows)
    assert chosen.arrays.plies.tolist() == expected
    assert int(chosen.arrays.used[0]) == num_games


def test_what_teaches_nothing_is_not_added() -> None:
    chosen = positions(8)
    chosen.add(finished([]))
    chosen.add(finished([0.0, 0.0]))
    assert int(chosen.arrays.used[0]) == 0


@pytest.mark.parametrize(("share", "filled"), [(0.0, True), (0.0, False), (1.0, False)])
def test_without_a_share_or_positions_no_random_number_is_drawn(share: float, filled: bool) -> None:
    chosen = positions(8)
    if filled:
        chosen.add(finished([1.0]))
    streams = np.array([5], np.uint64)
    roots, repetitions = CONNECT4.blank_states(1), new_selfplay()._search.repetitions
    found = draw_misjudged(chosen.arrays, share, roots, repetitions, streams, np.int64(0))
    assert found == NONE
    assert streams[0] == 5


@pytest.mark.parametrize("game", [CONNECT4, CHESS], ids=["connect4", "chess"])
def test_games_start_from_positions_of_earlier_games(game: Game) -> None:
    selfplay = new_selfplay(game, games=6, simulations="2", max_plies=30, opening_share=0.0)
    seen, from_earlier = set[bytes](), 0
    for iteration in range(4):
        games = split_games(selfplay.play(40, progress=0.0, iteration=iteration).rows)
        for each in games:
            check_end(game, each, max_plies=30)
            if each.openings[0] > 0:
                from_earlier += 1
                assert each.states[:1].tobytes() in seen
        seen |= {each.states[i : i + 1].tobytes() for each in games for i in range(len(each.moves))}
    assert from_earlier > 3


def test_whole_games_from_misjudged_positions_are_legal() -> None:
    selfplay = new_selfplay()
    for iteration in range(3):
        for game in split_games(selfplay.play(40, progress=0.0, iteration=iteration).rows):
            check_end(CONNECT4, game)


def test_a_restored_state_plays_on_bit_for_bit(tmp_path: Path) -> None:
    whole, other = new_selfplay(), new_selfplay()
    whole.play(40, progress=0.0, iteration=0)
    write_arrays(tmp_path / "file", whole.state())
    other.restore(read_arrays(tmp_path / "file")[0])
    for iteration in (1, 2):
        expected = whole.play(30, progress=0.0, iteration=iteration).rows
        found = other.play(30, progress=0.0, iteration=iteration).rows
        assert (expected.openings > 6).any()
        assert same(found, expected)


def test_a_run_without_the_setting_resumes_with_it_and_the_other_way_round() -> None:
    without, using = new_selfplay(misjudged_share=0.0), new_selfplay()
    for one, other in ((without, using), (using, without)):
        one.play(40, progress=0.0, iteration=0)
        other.restore(one.state())
        other.play(20, progress=0.0, iteration=1)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("misjudged.added", np.array([-1])),
        ("misjudged.added", np.array([1.5])),
        ("misjudged.added", np.array([], np.int64)),
        ("misjudged.plies", np.full(24, -1, np.int32)),
        ("misjudged.plies", np.full(24, 2**20, np.int32)),
        ("misjudged.plies", np.zeros(24, np.int64)),
        ("misjudged.states", np.zeros(24, np.uint8)),
    ],
)
def test_damaged_positions_are_refused(name: str, value: Any) -> None:
    selfplay = new_selfplay()
    selfplay.play(40, progress=0.0, iteration=0)
    state = selfplay.state() | {name: value}
    with pytest.raises(FileDamaged, match="misjudged"):
        new_selfplay().restore(state)


@pytest.mark.parametrize("name", ["misjudged.added", "misjudged.plies", "misjudged.states"])
def test_missing_positions_are_refused(name: str) -> None:
    state = new_selfplay().state()
    del state[name]
    with pytest.raises(FileDamaged, match="misjudged"):
        new_selfplay().restore(state)


def test_a_huge_count_does_no_harm() -> None:
    selfplay = new_selfplay()
    selfplay.play(40, progress=0.0, iteration=0)
    other = new_selfplay()
    other.restore(selfplay.state() | {"misjudged.added": np.array([2**62])})
    other.play(20, progress=0.0, iteration=1)
    assert int(other._misjudged.arrays.used[0]) == 24
