"""Batches: the right rows, turned rightly, the same for the same generator."""

from collections.abc import Iterator

import numpy as np
import pytest
from rookery.replay.sampler import mix_values

from rookery.base import generator
from rookery.games import Game, GameRecord, load_game
from rookery.replay import Batch, ReplayConfig, Samples, Window, prefetch, sample

CONNECT4, TICTACTOE = load_game("connect4"), load_game("tictactoe")


def window_of(rules: Game, records: list[GameRecord]) -> Window:
    window = Window(rules, ReplayConfig())
    window.add(Samples.from_records(records, 0))
    return window


def draw(window: Window, step: int = 0, batch_size: int = 64) -> Batch:
    rng = generator(1, "sample", step)
    rows = rng.integers(len(window), size=batch_size)
    return sample(window, rng, rows=rows, result_mix=0.5)


def equal(one: Batch, other: Batch) -> bool:
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in vars(one))


def planes_of(rules: Game, moves: list[int]) -> np.ndarray:
    planes = np.zeros(rules.planes_shape, np.float32)
    rules.rules.planes(rules.replay(moves), planes)
    return planes


def one_position(rules: Game, moves: list[int], policy: list[float]) -> Window:
    state = rules.blank_states(1)
    state[0] = rules.replay(moves)
    legal = rules.legal_actions(state[0])
    return window_of(
        rules,
        [
            GameRecord(
                states=state,
                actions=np.array(legal[:1], np.int16),
                values=np.array([[0.25, 0.5]], np.float32),
                policy_starts=np.array([0, len(legal)], np.int32),
                policy_actions=np.array(legal, np.int16),
                policy=np.array(policy, np.float16),
                result=-1,
                first_ply=len(moves),
            )
        ],
    )


def test_a_turned_connect_four_position_is_that_of_the_mirrored_moves():
    moves = [3, 3, 3, 3, 3, 3, 0, 1, 1]
    mirrored = [6 - move for move in moves]
    policy = [0.5, 0.25, 0.125, 0.125, 0.0, 0.0]  # column 3 is full
    full = np.array([0.5, 0.25, 0.125, 0.0, 0.125, 0.0, 0.0])
    batch = draw(one_position(CONNECT4, moves, policy))
    seen = set()
    for planes, chances, legal in zip(batch.planes, batch.policy, batch.legal, strict=True):
        turned = bool(np.array_equal(chances, full[::-1]))
        assert turned or np.array_equal(chances, full)
        assert np.array_equal(planes, planes_of(CONNECT4, mirrored if turned else moves))
        assert legal.tolist() == [True, True, True, False, True, True, True]
        seen.add(turned)
    assert seen == {False, True}


def test_all_eight_turns_of_tic_tac_toe_move_policy_and_planes_together():
    moves = [0, 1]
    batch = draw(one_position(TICTACTOE, moves, [0.4, 0.3, 0.1, 0.1, 0.05, 0.05, 0.0]), 0, 256)
    assert np.array_equal(batch.legal.reshape(-1, 3, 3), batch.planes.sum(axis=1) == 0)
    best = batch.policy.argmax(axis=1)  # cell 2, in one row with cells 0 and 1
    third = {(0, 1): 2, (2, 1): 0, (0, 3): 6, (6, 3): 0, (2, 5): 8, (8, 5): 2, (6, 7): 8, (8, 7): 6}
    seen = set()
    for planes, action in zip(batch.planes, best, strict=True):
        stones = int(planes[0].argmax()), int(planes[1].argmax())
        assert third[stones] == action
        seen.add(stones)
    assert seen == set(third)


@pytest.mark.parametrize("rules", [CONNECT4, TICTACTOE], ids=lambda rules: rules.name)
def test_legal_actions_are_those_of_the_rules(make_records, rules):
    batch = draw(window_of(rules, make_records(rules, 5)))
    if rules is CONNECT4:
        legal = batch.planes[:, :, 0].sum(axis=1) == 0  # the top row
    else:
        legal = batch.planes.sum(axis=1).reshape(-1, 9) == 0
    assert np.array_equal(batch.legal, legal)


def test_targets_are_distributions(make_records):
    batch = draw(window_of(CONNECT4, make_records(CONNECT4, 5)))
    assert np.allclose(batch.policy.sum(axis=1), 1, atol=1e-6)
    assert np.allclose(batch.wdl.sum(axis=1), 1, atol=1e-6)
    assert not batch.policy[~batch.legal].any()


def test_rows_are_drawn_from_the_whole_window_evenly(make_records):
    window = window_of(TICTACTOE, make_records(TICTACTOE, 40))
    batch = draw(window, 0, 20_000)
    stones = batch.planes.sum(axis=(1, 2, 3))
    drawn = np.bincount(stones.astype(int), minlength=9) / len(batch)
    held = np.bincount(window.samples.plies, minlength=9) / len(window)
    assert np.allclose(drawn, held, atol=0.015)


def test_the_same_generator_gives_the_same_batch(make_records):
    window = window_of(CONNECT4, make_records(CONNECT4, 5))
    assert equal(draw(window, 3), draw(window, 3))
    assert not equal(draw(window, 3), draw(window, 4))


def test_value_targets_mix_result_and_search():
    results = np.array([1, 0, -1, 1], np.int8)
    values = np.array([[0.5, 0.25], [0, 1], [-1, 0], [0.9, 0.4]], np.float16)
    searched = np.array([[0.625, 0.25, 0.125], [0, 1, 0], [0, 0, 1], [0.75 / 1.15, 0.4 / 1.15, 0]])
    played = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]])
    for mix in (0.0, 0.25, 1.0):
        found = mix_values(results, values, result_mix=mix)
        assert found.dtype == np.float32
        assert np.allclose(found, mix * played + (1 - mix) * searched, atol=1e-3)


def test_prefetching_changes_neither_order_nor_content(make_records):
    window = window_of(CONNECT4, make_records(CONNECT4, 5))
    ahead = list(prefetch(draw(window, step) for step in range(7)))
    assert len(ahead) == 7
    assert all(equal(batch, draw(window, step)) for step, batch in enumerate(ahead))


def test_prefetching_makes_no_more_than_depth_ahead():
    made = []

    def numbers() -> Iterator[int]:
        for number in range(100):
            made.append(number)
            yield number

    items = prefetch(numbers(), depth=2)
    assert next(items) == 0
    items.close()
    assert len(made) <= 4


def test_an_error_while_prefetching_reaches_the_learner():
    def broken() -> Iterator[int]:
        yield 1
        raise RuntimeError("no more")

    items = prefetch(broken())
    assert next(items) == 1
    with pytest.raises(RuntimeError, match="no more"):
        next(items)
