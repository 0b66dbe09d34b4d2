"""The statistics of a run: lines are appended, survive a crash, and can be forgotten."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from rookery.base import DiskFull
from rookery.training import Stats


@dataclass(frozen=True)
class Inner:
    """A report within a report."""

    loss: float


@dataclass(frozen=True)
class Report:
    """A report of one part of the loop."""

    updates: int
    inner: Inner


def kinds(stats: Stats) -> list[tuple[str, int]]:
    """Return kind and iteration of every line."""
    return [(line["kind"], line["iteration"]) for line in stats.lines()]


def test_without_a_file_there_are_no_lines(tmp_path: Path) -> None:
    assert list(Stats(tmp_path).lines()) == []
    assert not list(tmp_path.iterdir())


def test_an_event_is_one_line_with_reports_as_objects(tmp_path: Path) -> None:
    stats = Stats(tmp_path)
    stats.append("iteration", 3, learning=Report(7, Inner(0.5)), window=None, seconds=1.5)
    text = (tmp_path / "stats.jsonl").read_text()
    assert text.count("\n") == 1 and text.endswith("\n")
    assert json.loads(text) == {
        "kind": "iteration",
        "iteration": 3,
        "learning": {"updates": 7, "inner": {"loss": 0.5}},
        "window": None,
        "seconds": 1.5,
    }


def test_lines_are_read_oldest_first_by_any_reader(tmp_path: Path) -> None:
    stats = Stats(tmp_path)
    made = [stats.append("started", 0), stats.append("iteration", 1, x=1)]
    assert list(Stats(tmp_path).lines()) == made
    made.append(Stats(tmp_path).append("iteration", 2, x=2))
    assert list(stats.lines()) == made


def test_a_line_is_written_at_once(tmp_path: Path) -> None:
    line = Stats(tmp_path).append("started", 0)
    assert json.loads((tmp_path / "stats.jsonl").read_text()) == line


@pytest.mark.parametrize("cut", [1, 5, 15])
def test_a_truncated_last_line_is_skipped(tmp_path: Path, cut: int) -> None:
    stats = Stats(tmp_path)
    stats.append("started", 0)
    stats.append("iteration", 1, x=1)
    whole = stats.path.read_bytes()
    stats.path.write_bytes(whole[: -1 - cut])
    assert kinds(stats) == [("started", 0)]


def test_lines_after_an_iteration_are_forgotten(tmp_path: Path) -> None:
    stats = Stats(tmp_path)
    stats.append("started", 0)
    for iteration in (1, 2, 3):
        stats.append("iteration", iteration)
        stats.append("strength", iteration)
    stats.forget_after(2)
    kept = [("iteration", 1), ("strength", 1), ("iteration", 2), ("strength", 2)]
    assert kinds(stats) == [("started", 0), *kept]


def test_lines_after_a_forgotten_truncated_line_are_whole(tmp_path: Path) -> None:
    stats = Stats(tmp_path)
    stats.append("started", 0)
    stats.append("iteration", 1)
    stats.path.write_bytes(stats.path.read_bytes()[:-4])
    stats.forget_after(1)
    stats.append("resumed", 0)
    assert kinds(stats) == [("started", 0), ("resumed", 0)]


def test_a_full_disk_is_reported(tmp_path: Path) -> None:
    stats = Stats(tmp_path)
    stats.path.symlink_to("/dev/full")
    with pytest.raises(DiskFull, match=r"no room left to write .*stats\.jsonl; free some space"):
        stats.append("started", 0)


@pytest.mark.parametrize("odd", [b"\xff\xfe\x00{", b'{"a": 1}', b"[1]", b"5", b'{"kind": "x"}'])
def test_invalid_lines_are_skipped(tmp_path: Path, odd: bytes) -> None:
    stats = Stats(tmp_path)
    stats.append("iteration", 1)
    with open(stats.path, "ab") as file:
        file.write(odd + b"\n")
    stats.append("iteration", 2)
    assert kinds(stats) == [("iteration", 1), ("iteration", 2)]
    stats.forget_after(1)
    assert kinds(stats) == [("iteration", 1)]


DAMAGED = [
    b"\xff\x00\x80",
    b"5",
    b"[" * 100_000,
    b'{"kind": "note", "iteration": ' + b"9" * 5000 + b"}",
    b'{"kind": "note", "iteration": 1, "note": "' + b"x" * 10_000_000 + b'"}',
    b'{"kind": "note", "iteration": 1, "no',
    b'{"kind": 5, "iteration": 1}',
    b'{"kind": "note", "iteration": true}',
    b'{"kind": "note", "iteration": -1}',
]


def test_damaged_lines_are_counted_in_one_note(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    stats = Stats(tmp_path)
    stats.append("iteration", 1)
    with open(stats.path, "ab") as file:
        file.write(b"".join(line + b"\n" for line in DAMAGED))
    stats.append("iteration", 2)
    before = stats.path.read_bytes()
    assert kinds(stats) == kinds(Stats(tmp_path)) == [("iteration", 1), ("iteration", 2)]
    assert caplog.messages == [f"note: skipped {len(DAMAGED)} damaged lines of {stats.path}"]
    assert stats.path.read_bytes() == before


def test_a_line_is_never_appended_to_a_truncated_one(tmp_path: Path) -> None:
    stats = Stats(tmp_path)
    stats.append("iteration", 1)
    stats.append("iteration", 2)
    stats.path.write_bytes(stats.path.read_bytes()[:-5])
    stats.append("iteration", 3)
    assert kinds(stats) == [("iteration", 1), ("iteration", 3)]
