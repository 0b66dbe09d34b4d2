"""Windows that hold a part of the rows each: together they are the whole window."""

from collections import Counter

import numpy as np
import pytest
import torch

from rookery.base import UnknownName
from rookery.games import load_game
from rookery.replay import Batch, ReplayConfig, Rows, Window, count, deal_lanes
from rookery.replay.part import LANES
from rookery.replay.rows import select
from rookery.replay.sampling import dealt_row
from slow_replay import equal, random_rows

GAME = load_game("tictactoe")
CONFIG = ReplayConfig(window_min=700, window_max=1500, window_growth=0.6)
STREAM = np.uint64(77)
GROUPS = {1: [0], 2: [0, 1], 3: [0, 1, 2]}


@pytest.fixture(scope="module")
def shards() -> list[Rows]:
    """More rows than the window holds, in shards of different sizes."""
    return [random_rows(GAME, games, seed=games) for games in (40, 3, 90, 1, 120, 60, 77)]


def windows(shards: list[Rows], members: list[int], trainers: int) -> tuple[Window, list[Window]]:
    """Return the whole window and its parts."""
    lanes = deal_lanes(members, trainers)
    whole = Window(GAME, CONFIG)
    parts = [Window(GAME, CONFIG, lanes=lanes[number]) for number in members]
    for rows in shards:
        for window in (whole, *parts):
            window.add(rows)
    return whole, parts


def draw(window: Window, card: int, offsets: np.ndarray) -> Batch:
    return window.batch(np.array([card]), offsets, stream=STREAM, result_mix=0.5)


@pytest.mark.parametrize("size", GROUPS)
def test_every_row_is_held_once_whatever_the_number_of_trainers(
    shards: list[Rows], size: int
) -> None:
    whole, parts = windows(shards, GROUPS[size], size)
    held = [part.rows_held for part in parts]
    assert len(whole) < whole.rows_made and whole.rows_held == len(whole)
    assert sum(held) == len(whole) and max(held) - min(held) <= 1 + len(whole) // LANES
    room = sum(part._ring.moves.nbytes for part in parts)
    assert room <= whole._ring.moves.nbytes * 1.5, "parts take no more memory than the whole"
    assert sum(part.share for part in parts) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("members", "trainers"),
    [([0], 1), ([0, 1], 2), ([0, 1, 2], 3), ([0, 2], 3), ([1], 3), ([0, 3, 6], 7)],
)
def test_each_row_is_seen_once_per_pass_by_all_trainers_together(
    shards: list[Rows], members: list[int], trainers: int
) -> None:
    whole, parts = windows(shards, members, trainers)
    size, seen = len(whole), Counter[int]()
    for begin in range(3 * size, 4 * size, 48):
        offsets = np.arange(min(48, 4 * size - begin))
        own = [part.own_offsets(begin, offsets, stream=STREAM) for part in parts]
        assert sorted(np.concatenate(own).tolist()) == offsets.tolist()
        batch = draw(whole, begin, offsets)
        for part, cards in zip(parts, own, strict=True):
            rows = Batch(
                batch.planes[cards], batch.policy[cards], batch.legal[cards], batch.wdl[cards]
            )
            assert equal(draw(part, begin, cards), rows), "the rows of the whole window's batch"
        seen.update(dealt(whole, begin, offsets))
    assert len(seen) == size and set(seen.values()) == {1}


def dealt(window: Window, card: int, offsets: np.ndarray) -> list[int]:
    """Return the rows of a batch, numbered from the oldest of the window."""
    size = np.uint64(len(window))
    return [int(dealt_row(np.uint64(card + each), size, STREAM)) for each in offsets]


def test_lanes_of_a_lost_trainer_are_shared_and_the_others_keep_theirs() -> None:
    before, after = deal_lanes([0, 1, 2], 3), deal_lanes([0, 2], 3)
    for number in after:
        assert set(before[number]) < set(after[number])
    assert sorted(after[0] + after[2]) == list(range(LANES))
    assert abs(len(after[0]) - len(after[2])) <= 2
    assert deal_lanes([0, 1, 2], 3) == before, "a replacement gets the lost part back"


def test_the_most_trainers_have_one_lane_each() -> None:
    lanes = deal_lanes(list(range(LANES)), LANES)
    assert {len(each) for each in lanes.values()} == {1}


def test_a_part_of_a_tiny_window_may_be_empty() -> None:
    rows = select(random_rows(GAME, 1), slice(0, 1))
    first, second = (Window(GAME, CONFIG, lanes=lanes) for lanes in deal_lanes([0, 9], 10).values())
    for window in (first, second):
        window.add(rows)
    assert first.rows_held + second.rows_held == count(rows)
    empty = min(first, second, key=lambda window: window.rows_held)
    offsets = empty.own_offsets(0, np.arange(8), stream=STREAM)
    assert len(draw(empty, 0, offsets)) == len(offsets)


def test_an_empty_part_of_a_window_gives_no_batch() -> None:
    window = Window(GAME, CONFIG, lanes=(0, 1))
    with pytest.raises(ValueError, match="the window is empty"):
        window.own_offsets(0, np.arange(8), stream=STREAM)


def test_rows_of_another_part_are_refused(shards: list[Rows]) -> None:
    window = Window(GAME, CONFIG, lanes=deal_lanes([0, 1], 2)[0])
    with pytest.raises(ValueError, match=f"got {count(shards[0])} rows, expected"):
        window.extend(shards[0], count(shards[0]))


def test_an_unknown_sharding_is_refused() -> None:
    with pytest.raises(UnknownName, match=r"replay\.sharding"):
        ReplayConfig(sharding="halves")


def test_a_pinned_batch_keeps_its_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.Tensor, "pin_memory", lambda tensor: tensor)
    batch = Batch(*[torch.zeros(3)] * 4, parts=(1, 2))
    assert batch.pinned().parts == (1, 2)
