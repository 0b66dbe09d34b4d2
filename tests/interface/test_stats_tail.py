"""Reading statistics that another process writes, and finding out whether it runs."""

import json
import os
from pathlib import Path

import pytest

from rookery.interface.stats_tail import NEVER, StatsTail
from rookery.interface.watch.run_status import LockProbe
from rookery.training import RECIPES, RunFolder, Stats


@pytest.fixture
def stats(tmp_path: Path) -> Stats:
    """Statistics of three iterations."""
    made = Stats(tmp_path)
    for iteration in (1, 2, 3):
        made.append("iteration", iteration)
    return made


def iterations(tail: StatsTail) -> list[int]:
    """Return the iterations of the new lines."""
    return [line["iteration"] for line in tail.read()[0]]


def test_every_line_is_read_once(stats: Stats, tmp_path: Path) -> None:
    tail = StatsTail(tmp_path)
    first, is_restart = tail.read()
    assert is_restart and [line["iteration"] for line in first] == [1, 2, 3]
    assert iterations(tail) == []
    stats.append("iteration", 4)
    new, is_restart = tail.read()
    assert not is_restart and [line["iteration"] for line in new] == [4]


def test_a_file_that_is_not_there_yet_has_no_lines(tmp_path: Path) -> None:
    tail = StatsTail(tmp_path)
    assert tail.read()[0] == [] and tail.changed_at == NEVER
    Stats(tmp_path).append("started", 0)
    assert iterations(tail) == [0] and tail.changed_at > NEVER


def test_half_a_line_waits_for_its_other_half(stats: Stats, tmp_path: Path) -> None:
    tail = StatsTail(tmp_path)
    tail.read()
    text = json.dumps({"kind": "note", "iteration": 4, "note": "caf\u00e9"}, ensure_ascii=False)
    raw = text.encode() + b"\n"
    with open(stats.path, "ab", buffering=0) as file:
        for part in (raw[:7], raw[7:-4], raw[-4:-1]):  # the last cut goes through a letter
            file.write(part)
            assert iterations(tail) == []
        file.write(raw[-1:])
    assert iterations(tail) == [4]


def test_what_is_no_line_of_statistics_is_passed_over(stats: Stats, tmp_path: Path) -> None:
    with open(stats.path, "ab") as file:
        file.write(b'{"kind": "iterat\n5\n[]\n{}\n\xff\n')
    stats.append("iteration", 4)
    assert iterations(StatsTail(tmp_path)) == [1, 2, 3, 4]


def test_dropped_lines_restart_the_reader(stats: Stats, tmp_path: Path) -> None:
    tail = StatsTail(tmp_path)
    tail.read()
    stats.forget_after(1)
    new, is_restart = tail.read()
    assert is_restart and [line["iteration"] for line in new] == [1]
    stats.append("iteration", 2)
    assert iterations(tail) == [2]


def test_a_replaced_file_that_has_grown_longer_is_read_from_its_start(
    stats: Stats, tmp_path: Path
) -> None:
    tail = StatsTail(tmp_path)
    tail.read()
    stats.forget_after(1)
    for iteration in range(2, 9):
        stats.append("iteration", iteration)
    new, is_restart = tail.read()
    assert is_restart and len(new) == 8


def test_a_file_rewritten_in_place_is_read_from_its_start(stats: Stats, tmp_path: Path) -> None:
    tail = StatsTail(tmp_path)
    tail.read()
    before = os.stat(stats.path)
    stats.path.write_text('{"kind": "note", "iteration": 7}\n' * 20)
    assert os.stat(stats.path).st_ino == before.st_ino, "the same file, and longer"
    new, is_restart = tail.read()
    assert is_restart and len(new) == 20


def test_only_what_was_appended_is_read(stats: Stats, tmp_path: Path) -> None:
    for iteration in range(4, 2000):
        stats.append("iteration", iteration)
    tail = StatsTail(tmp_path)
    tail.read()
    stats.append("iteration", 2000)
    with open(stats.path, "rb") as file:
        assert tail._is_unchanged(file)
        begin = file.tell()
    assert begin + 100 > os.path.getsize(stats.path)
    assert iterations(tail) == [2000]


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    """Return a run that was never trained."""
    return RunFolder.create(tmp_path / "run", RECIPES["tictactoe-demo"]())


def age(folder: RunFolder) -> None:
    """Pretend that the lock was last taken a minute ago."""
    past = os.stat(folder.path / ".lock").st_mtime - 60
    os.utime(folder.path / ".lock", (past, past))


def test_a_run_is_held_while_its_lock_is(folder: RunFolder) -> None:
    probe = LockProbe(folder.path)
    assert not probe.is_held(NEVER), "never trained"
    with folder.lock():
        assert probe.is_held(NEVER), "just begun"
        age(folder)
        assert probe.is_held(NEVER)
    assert not probe.is_held(NEVER)
    with folder.lock():
        assert probe.is_held(NEVER)


def test_a_free_lock_is_tried_once_and_not_again_before_a_sign_of_life(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.lock().close()
    age(folder)
    probe, tried = LockProbe(folder.path), list[int]()

    def fail(self: LockProbe) -> bool:
        tried.append(1)
        return False

    monkeypatch.setattr(LockProbe, "_try", fail)
    assert not any(probe.is_held(5.0) for _ in range(10)) and len(tried) == 1
    assert not probe.is_held(6.0) and len(tried) == 2, "a line has come"


def test_probing_leaves_the_lock_free(folder: RunFolder) -> None:
    folder.lock().close()
    age(folder)
    assert not LockProbe(folder.path).is_held(NEVER)
    folder.lock().close()
