"""Work in parts that become smaller when memory runs out; no GPU is needed."""

import logging
import weakref

import pytest
import torch

from rookery.gpu import Parts


class SmallMemory:
    """Work that fails for more than `capacity` items at once."""

    def __init__(self, capacity: int) -> None:
        self.capacity, self.calls = capacity, 0

    def __call__(self, part: slice) -> list[int]:
        self.calls += 1
        items = list(range(part.start, part.stop))
        if len(items) > self.capacity:
            raise torch.OutOfMemoryError("out of memory, on purpose")
        return items


@pytest.mark.parametrize("capacity", [1, 3, 7, 100])
@pytest.mark.parametrize("count", [0, 1, 5, 64, 99])
def test_every_item_is_worked_on_once_in_order(capacity: int, count: int) -> None:
    parts = Parts("items", 64).each(count, SmallMemory(capacity))
    assert [item for part in parts for item in part] == list(range(count))


def test_the_smaller_size_is_kept_and_announced_once(caplog: pytest.LogCaptureFixture) -> None:
    parts, work = Parts("games", 64), SmallMemory(20)
    with caplog.at_level(logging.WARNING):
        parts.each(64, work)
        calls = work.calls
        parts.each(64, work)
    assert parts.largest == 16 and work.calls - calls == 4
    assert [record.getMessage() for record in caplog.records] == [
        "note: 64 games do not fit into the GPU's memory; continuing with 32 at a time",
        "note: 32 games do not fit into the GPU's memory; continuing with 16 at a time",
    ]


def test_what_did_fit_is_released_before_the_next_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    class Memory:
        """A part of the work that did fit, as a tensor would be."""

    taken: weakref.WeakSet[Memory] = weakref.WeakSet()
    left: list[int] = []
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: left.append(len(taken)))

    def work(part: slice) -> None:
        memory = Memory()
        taken.add(memory)
        if part.stop - part.start > 1:
            raise torch.OutOfMemoryError("out of memory, on purpose")

    Parts("games", 4).each(4, work)
    assert left == [0, 0]


def test_others_free_what_they_keep_before_the_smallest_part_fails() -> None:
    kept = [1]

    def release() -> bool:
        had = bool(kept)
        kept.clear()
        return had

    other = Parts("positions", 8, release=release)
    work = SmallMemory(0)

    def needs_the_others(part: slice) -> list[int]:
        return [part.start] if not kept else work(part)

    assert Parts("games", 1).each(2, needs_the_others) == [[0], [1]]
    assert work.calls == 1 and other.largest == 8
    with pytest.raises(torch.OutOfMemoryError):
        Parts("games", 1).each(1, work)


def test_smaller_parts_can_be_refused() -> None:
    def refuse(note: str) -> None:
        raise PermissionError(note)

    with pytest.raises(PermissionError, match="64 games do not fit"):
        Parts("games", 64, on_smaller=refuse).each(64, SmallMemory(20))


def test_memory_too_small_for_the_smallest_part_is_an_error() -> None:
    with pytest.raises(torch.OutOfMemoryError):
        Parts("games", 64, smallest=32).each(64, SmallMemory(16))
