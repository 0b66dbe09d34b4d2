"""Batches: the rows that were dealt, turned by a symmetry, as a slow reference builds them."""

import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from rookery.games import Game, load_game
from rookery.replay import Batch, ReplayConfig, Rows, Window, new_rows, prefetch
from slow_replay import equal, random_rows, slow_batch

CONNECT4, TICTACTOE = load_game("connect4"), load_game("tictactoe")
STREAM = 77


def draw(window: Window, size: int = 64, *, first: int = 0, result_mix: float = 0.5) -> Batch:
    card, offsets = np.array([first]), np.arange(size)
    return window.batch(card, offsets, stream=np.uint64(STREAM), result_mix=result_mix)


def window_of(game: Game, *parts: Rows, **settings: Any) -> Window:
    window = Window(game, ReplayConfig(**settings))
    for rows in parts:
        window.add(rows)
    return window


def planes_of(game: Game, moves: list[int]) -> np.ndarray:
    planes = np.zeros(game.planes_shape, np.float32)
    game.rules.planes(game.replay(moves), planes)
    return planes


def one_position(game: Game, moves: list[int], policy: list[float]) -> Window:
    rows, legal = new_rows(game, 1), game.legal_actions(game.replay(moves))
    rows.states[0], rows.num_legal[0] = game.replay(moves), len(legal)
    rows.legal[0, : len(legal)] = legal
    rows.policy[0, : len(legal)] = np.array(policy) * 32000
    return window_of(game, rows)


@pytest.mark.parametrize("name", ["connect4", "tictactoe", "chess"])
@pytest.mark.parametrize("result_mix", [0.0, 0.3, 1.0])
def test_batches_are_those_of_the_slow_reference(name: str, result_mix: float) -> None:
    game = load_game(name)
    window = window_of(game, random_rows(game, 4, max_plies=30))
    cards = [5 * len(window) + i for i in range(100)]
    rows = window.newest(len(window))
    expected = slow_batch(game, rows, cards, stream=STREAM, result_mix=result_mix)
    assert equal(draw(window, 100, first=cards[0], result_mix=result_mix), expected)


def test_batches_of_a_full_ring_are_those_of_its_newest_rows() -> None:
    parts = [random_rows(CONNECT4, 3, seed) for seed in range(6)]
    window = window_of(CONNECT4, *parts, window_min=50, window_max=50)
    rows = window.newest(50)
    expected = slow_batch(CONNECT4, rows, list(range(120)), stream=STREAM, result_mix=0.5)
    assert equal(draw(window, 120), expected)


def test_the_shares_of_learners_make_up_the_batch() -> None:
    window = window_of(CONNECT4, random_rows(CONNECT4, 5))
    whole, stream = draw(window, 64, first=640), np.uint64(STREAM)
    for part in (slice(0, 20), slice(20, 64), slice(63, 64)):
        offsets = np.arange(64)[part]
        share = window.batch(np.array([640]), offsets, stream=stream, result_mix=0.5)
        columns = (whole.planes, whole.policy, whole.legal, whole.wdl)
        assert equal(share, Batch(*(each[part] for each in columns)))


def test_a_turned_connect_four_position_is_that_of_the_mirrored_moves() -> None:
    moves = [3, 3, 3, 3, 3, 3, 0, 1, 1]
    mirrored = [6 - move for move in moves]
    full = np.array([0.5, 0.25, 0.125, 0.0, 0.125, 0.0, 0.0])  # column 3 is full
    batch = draw(one_position(CONNECT4, moves, [0.5, 0.25, 0.125, 0.125, 0.0, 0.0]))
    seen = set()
    for planes, policy, legal in zip(batch.planes, batch.policy, batch.legal, strict=True):
        is_turned = bool(np.array_equal(policy, full[::-1]))
        assert is_turned or np.array_equal(policy, full)
        assert np.array_equal(planes, planes_of(CONNECT4, mirrored if is_turned else moves))
        assert legal.tolist() == [True, True, True, False, True, True, True]
        seen.add(is_turned)
    assert seen == {False, True}


def test_all_eight_symmetries_of_tic_tac_toe_turn_policy_and_planes_together() -> None:
    window = one_position(TICTACTOE, [0, 1], [0.4, 0.3, 0.1, 0.1, 0.05, 0.05, 0.0])
    batch = draw(window, 256)
    assert np.array_equal(batch.legal.reshape(-1, 3, 3), batch.planes.sum(1) == 0)
    best = batch.policy.argmax(1).tolist()  # cell 2, in one line with cells 0 and 1
    third = {(0, 1): 2, (2, 1): 0, (0, 3): 6, (6, 3): 0, (2, 5): 8, (8, 5): 2, (6, 7): 8, (8, 7): 6}
    seen = set()
    for planes, action in zip(batch.planes, best, strict=True):
        stones = int(planes[0].argmax()), int(planes[1].argmax())
        assert third[stones] == action
        seen.add(stones)
    assert seen == set(third)


def test_targets_are_distributions_over_legal_actions() -> None:
    batch = draw(window_of(CONNECT4, random_rows(CONNECT4, 5)))
    np.testing.assert_allclose(batch.policy.sum(1), 1, atol=1e-6)
    np.testing.assert_allclose(batch.wdl.sum(1), 1, atol=1e-6)
    assert not batch.policy[~batch.legal].any()
    top_row = batch.planes[:, :, 0].sum(1)
    assert np.array_equal(batch.legal, top_row == 0)


@pytest.mark.parametrize("result_mix", [0.0, 0.25, 1.0])
def test_value_targets_mix_result_and_search(result_mix: float) -> None:
    rows = new_rows(TICTACTOE, 4)
    rows.states[:], rows.num_legal[:], rows.policy[:, 0] = TICTACTOE.new_states(4), 1, 1
    rows.results[:] = 1, 0, -1, 1
    rows.values[:], rows.draws[:] = (0.5, 0, -1, 0.9), (0.25, 1, 0, 0.4)
    search = np.array([[0.625, 0.25, 0.125], [0, 1, 0], [0, 0, 1], [0.75 / 1.15, 0.4 / 1.15, 0]])
    result = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]])
    expected = result_mix * result + (1 - result_mix) * search
    found = draw(window_of(TICTACTOE, rows), 4, result_mix=result_mix).wdl
    order = np.lexsort(found.numpy().T), np.lexsort(expected.astype(np.float32).T)
    np.testing.assert_allclose(found[order[0]], expected[order[1]], atol=1e-6)


def test_an_empty_window_gives_no_batch() -> None:
    with pytest.raises(ValueError, match="the window is empty"):
        draw(Window(TICTACTOE, ReplayConfig(window_min=1, window_max=1)))


def test_prefetching_changes_neither_order_nor_content() -> None:
    window = window_of(CONNECT4, random_rows(CONNECT4, 5))
    ahead = list(prefetch(draw(window, first=64 * step) for step in range(7)))
    assert len(ahead) == 7
    assert all(equal(batch, draw(window, first=64 * i)) for i, batch in enumerate(ahead))


def test_prefetching_makes_no_more_than_depth_ahead() -> None:
    made = []

    def numbers() -> Iterator[int]:
        for number in range(100):
            made.append(number)
            yield number

    items = prefetch(numbers(), depth=2)
    assert next(items) == 0
    items.close()
    assert len(made) <= 4


def test_with_depth_zero_an_item_is_made_when_it_is_asked_for() -> None:
    made = []

    def numbers() -> Iterator[int]:
        for number in range(3):
            made.append(number)
            yield number

    items = prefetch(numbers(), depth=0)
    assert not made
    assert next(items) == 0 and made == [0]
    assert list(items) == [1, 2]


def test_the_thread_that_prefetches_stays_and_is_idle_after_a_close() -> None:
    made: list[int] = []

    def identities() -> Iterator[int]:
        for number in range(9):
            time.sleep(0.02)
            made.append(number)
            yield threading.get_ident()

    first = prefetch(identities())
    thread = next(first)
    first.close()
    done = len(made)
    time.sleep(0.1)
    assert len(made) == done < 9, "something is still being made"
    assert set(prefetch(identities())) == {thread} != {threading.get_ident()}


def test_an_error_while_prefetching_reaches_the_learner() -> None:
    def broken() -> Iterator[int]:
        yield 1
        raise RuntimeError("no more")

    items = prefetch(broken())
    assert next(items) == 1
    with pytest.raises(RuntimeError, match="no more"):
        next(items)
