"""Following a file of statistics that another process writes, and feeling whether it lives."""

import json
import os
from pathlib import Path

import pytest

from rookery.interface.watch import lock_probe as pulse
from rookery.interface.watch.lock_probe import LockProbe
from rookery.interface.watch.stats_tail import NEVER, StatsTail
from rookery.training import RECIPES, RunFolder, Stats


@pytest.fixture
def stats(tmp_path: Path) -> Stats:
    """Statistics of three iterations."""
    made = Stats(tmp_path)
    for iteration in (1, 2, 3):
        made.append("iteration", iteration)
    return made


def iterations(follower: StatsTail) -> list[int]:
    """Those of the lines that have come."""
    return [line["iteration"] for line in follower.read().lines]


def test_every_line_is_read_once(stats: Stats, tmp_path: Path) -> None:
    follower = StatsTail(tmp_path)
    first = follower.read()
    assert first.is_afresh and [line["iteration"] for line in first.lines] == [1, 2, 3]
    assert iterations(follower) == []
    stats.append("iteration", 4)
    news = follower.read()
    assert not news.is_afresh and [line["iteration"] for line in news.lines] == [4]


def test_a_file_that_is_not_there_yet_has_no_lines(tmp_path: Path) -> None:
    follower = StatsTail(tmp_path)
    assert follower.read().lines == [] and follower.changed_at == NEVER
    Stats(tmp_path).append("started", 0)
    assert iterations(follower) == [0] and follower.changed_at > NEVER


def test_half_a_line_waits_for_its_other_half(stats: Stats, tmp_path: Path) -> None:
    follower = StatsTail(tmp_path)
    follower.read()
    text = json.dumps({"kind": "note", "iteration": 4, "note": "caf\u00e9"}, ensure_ascii=False)
    raw = text.encode() + b"\n"
    with open(stats.path, "ab", buffering=0) as file:
        for part in (raw[:7], raw[7:-4], raw[-4:-1]):  # the last cut goes through a letter
            file.write(part)
            assert iterations(follower) == []
        file.write(raw[-1:])
    assert iterations(follower) == [4]


def test_what_is_no_line_of_statistics_is_passed_over(stats: Stats, tmp_path: Path) -> None:
    with open(stats.path, "ab") as file:
        file.write(b'{"kind": "iterat\n5\n[]\n{}\n\xff\n')
    stats.append("iteration", 4)
    assert iterations(StatsTail(tmp_path)) == [1, 2, 3, 4]


def test_lines_that_were_forgotten_are_forgotten(stats: Stats, tmp_path: Path) -> None:
    follower = StatsTail(tmp_path)
    follower.read()
    stats.forget_after(1)
    news = follower.read()
    assert news.is_afresh and [line["iteration"] for line in news.lines] == [1]
    stats.append("iteration", 2)
    assert iterations(follower) == [2]


def test_a_file_that_was_forgotten_and_has_grown_past_is_read_afresh(
    stats: Stats, tmp_path: Path
) -> None:
    follower = StatsTail(tmp_path)
    follower.read()
    stats.forget_after(1)
    for iteration in range(2, 9):
        stats.append("iteration", iteration)
    news = follower.read()
    assert news.is_afresh and len(news.lines) == 8


def test_a_file_rewritten_in_place_is_read_afresh(stats: Stats, tmp_path: Path) -> None:
    follower = StatsTail(tmp_path)
    follower.read()
    before = os.stat(stats.path)
    stats.path.write_text('{"kind": "note", "iteration": 7}\n' * 20)
    assert os.stat(stats.path).st_ino == before.st_ino, "the same file, and longer"
    news = follower.read()
    assert news.is_afresh and len(news.lines) == 20


def test_only_what_was_appended_is_read(stats: Stats, tmp_path: Path) -> None:
    for iteration in range(4, 2000):
        stats.append("iteration", iteration)
    follower = StatsTail(tmp_path)
    follower.read()
    stats.append("iteration", 2000)
    with open(stats.path, "rb") as file:
        assert follower._goes_on(file)
        begin = file.tell()
    assert begin + 100 > os.path.getsize(stats.path)
    assert iterations(follower) == [2000]


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    """A run that nobody has trained yet."""
    return RunFolder.create(tmp_path / "run", RECIPES["tictactoe-demo"]())


def age(folder: RunFolder) -> None:
    """As if the lock had last been taken a minute ago."""
    past = os.stat(folder.path / ".lock").st_mtime - 60
    os.utime(folder.path / ".lock", (past, past))


def test_a_run_is_held_while_its_lock_is(folder: RunFolder) -> None:
    feel = LockProbe(folder.path)
    assert not feel.is_held(NEVER), "never trained"
    with folder.lock():
        assert feel.is_held(NEVER), "just begun"
        age(folder)
        assert feel.is_held(NEVER)
    assert not feel.is_held(NEVER)
    with folder.lock():
        assert feel.is_held(NEVER)


def test_a_free_lock_is_tried_once_and_not_again_before_a_sign_of_life(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.lock().close()
    age(folder)
    feel, tried = LockProbe(folder.path), []
    monkeypatch.setattr(pulse.LockProbe, "_try", lambda self: bool(tried.append(1)))
    assert not any(feel.is_held(5.0) for _ in range(10)) and len(tried) == 1
    assert not feel.is_held(6.0) and len(tried) == 2, "a line has come"


def test_feeling_the_pulse_leaves_the_lock_to_others(folder: RunFolder) -> None:
    folder.lock().close()
    age(folder)
    assert not LockProbe(folder.path).is_held(NEVER)
    folder.lock().close()
