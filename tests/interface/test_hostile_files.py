"""Run folders that no run leaves behind: links, pipes, odd names, damaged JSON, missing files."""

import errno
import json
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from command_line import Mistake, Rookery

COMMANDS = {
    "run.json": ("resume", "watch", "eval"),
    "config.json": ("resume", "watch", "eval"),
    "stats.jsonl": ("resume", "watch"),
    ".lock": ("resume", "watch"),
    "checkpoint.safetensors": ("resume",),
    "weights/000002.safetensors": ("eval", "export"),
    "weights": ("resume", "eval"),
}
"""The commands that read each file."""
OPTIONS: dict[str, tuple[str, ...]] = {
    "resume": ("--set", "run.iterations=3"),
    "watch": ("--once",),
    "eval": ("--simulations", "0", "--workers", "0"),
    "export": ("net.onnx",),
}
READS = [(name, command) for name, commands in COMMANDS.items() for command in commands]
DEEP = b'{"game": ' + b"[" * 100_000
ODD = os.fsdecode(b"run-\xff\xfe")
COLOURED = "run\x1b[31m\x07"


@pytest.fixture(autouse=True)
def limited_time() -> Iterator[None]:
    """A command that waits for ever fails its test."""
    before = signal.signal(signal.SIGALRM, _hangs)
    signal.alarm(300)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def _hangs(*_: object) -> None:
    raise AssertionError("the command hangs")


def loop(path: Path) -> None:
    path.symlink_to(path.name)


def nowhere(path: Path) -> None:
    path.symlink_to(path.parent / "missing" / "nothing")


KINDS: list[Callable[[Path], None]] = [loop, nowhere, Path.mkdir, os.mkfifo]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("name", "command"), READS)
def test_what_is_no_file_is_a_mistake(
    rookery: Rookery,
    own_run: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    command: str,
    kind: Callable[[Path], None],
) -> None:
    """Or it does no harm: a lock or statistics may be missing, and an empty folder of weights."""
    monkeypatch.chdir(own_run.parent)
    path = own_run / name
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    kind(path)
    answer = rookery(command, own_run, *OPTIONS[command])
    assert answer.code in (0, 2)
    if answer.code == 2:
        assert answer.err.startswith("rookery: ") and len(answer.err.splitlines()) == 1
        assert name.split("/")[0] in answer.err
    else:
        may_be_missing = kind is nowhere and name in (".lock", "stats.jsonl", "weights")
        is_empty = kind is Path.mkdir and name == "weights"
        assert may_be_missing or is_empty or (name, command) == (".lock", "watch")


@pytest.mark.parametrize("link", [loop, nowhere])
def test_a_link_that_leads_nowhere_is_no_run_folder(
    mistake: Mistake, tmp_path: Path, link: Callable[[Path], None]
) -> None:
    path = tmp_path / "run"
    link(path)
    assert "exists already" in mistake("train", "tictactoe", "--run", path)
    assert "is not a run folder" in mistake("resume", path)
    assert "is not a run folder" in mistake("watch", path, "--once")
    assert "unknown run folder" in mistake("eval", path)
    assert "exists already" in mistake("export", "connect4", link_to_onnx(tmp_path, link))
    assert path.is_symlink()


def link_to_onnx(folder: Path, link: Callable[[Path], None]) -> Path:
    link(folder / "net.onnx")
    return folder / "net.onnx"


@pytest.mark.parametrize("link", [loop, nowhere])
def test_the_next_free_folder_is_not_a_link(
    rookery: Rookery,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    tiny: list[str],
    link: Callable[[Path], None],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("runs").mkdir()
    link(Path("runs/tictactoe-1"))
    assert rookery("train", "tictactoe", *tiny).code == 0
    assert Path("runs/tictactoe-2/run.json").exists()


def test_a_lock_that_is_a_link_does_not_empty_its_target(
    rookery: Rookery, own_run: Path, tmp_path: Path
) -> None:
    mine = tmp_path / "mine.txt"
    mine.write_text("mine")
    (own_run / ".lock").unlink(missing_ok=True)
    (own_run / ".lock").symlink_to(mine)
    rookery("resume", own_run, *OPTIONS["resume"])
    assert mine.read_text() == "mine"


@pytest.mark.parametrize(("name", "command"), [read for read in READS if "json" in read[0]])
def test_json_of_many_levels_is_damage(
    rookery: Rookery, own_run: Path, name: str, command: str
) -> None:
    (own_run / name).write_bytes(DEEP + b"\n")
    answer = rookery(command, own_run, *OPTIONS[command])
    if name == "stats.jsonl":
        assert "Traceback" not in answer.err
    else:
        assert answer.code == 2 and len(answer.err.splitlines()) == 1


@pytest.mark.parametrize("text", [DEEP, b'{"space": ' + b"9" * 5000 + b"}"])
def test_a_damaged_study_is_a_mistake(mistake: Mistake, tmp_path: Path, text: bytes) -> None:
    (tmp_path / "study.json").write_bytes(text)
    line = mistake("tune", "tictactoe", "--study", tmp_path, "--devices", "cpu")
    assert "study.json is damaged" in line


@pytest.mark.parametrize("name", [ODD, COLOURED])
def test_any_name_of_a_run_can_be_used_and_shown(
    rookery: Rookery, tmp_path: Path, tiny: list[str], name: str
) -> None:
    path = tmp_path / name
    assert rookery("train", "tictactoe", "--run", path, *tiny).code == 0
    games = tmp_path / "games.pgn"
    for words in (
        ["resume", path],
        ["watch", path, "--once"],
        ["eval", path, *OPTIONS["eval"]],
        ["eval", path, *OPTIONS["eval"], "--json"],
        ["match", f"{path}:1", "random", "--games", 2, "--workers", 0],
        ["export", path, tmp_path / f"{name}.onnx"],
        ["train", "tictactoe", "--run", path],
        ["games", "export", path, "--pgn", games],
        ["uci", path],
        ["analyse", f"{path}@7", "--simulations", 1],
        ["resume", tmp_path / f"no-{name}"],
    ):
        answer = rookery(*words, typed="uci\nquit\n")
        shown = answer.out + answer.err
        shown.encode("utf-8")
        assert answer.code in (0, 2) and "Traceback" not in shown
        assert "\x1b" not in shown and "\x07" not in shown


@pytest.mark.parametrize("name", [ODD, COLOURED])
def test_any_name_of_a_study_or_rules_file_is_shown(
    rookery: Rookery, tmp_path: Path, name: str
) -> None:
    rules = tmp_path / f"{name}.py"
    rules.write_text("NAME = 'mine'\n")
    for words in (
        ["games", "check", rules],
        ["train", rules],
        ["tune", "tictactoe", "--study", tmp_path / name, "--trials", 0],
        ["train", f"no-{rules}"],
        ["train", "tictactoe", "--recipe", name],
        ["train", "tictactoe", "--set", f"run.moves={name}"],
        ["train", "tictactoe", f"--{name}"],
        ["analyse", "connect4", "--simulations", 1, name],
    ):
        answer = rookery(*words)
        shown = answer.out + answer.err
        shown.encode("utf-8")
        assert answer.code == 2 and "Traceback" not in shown
        assert "\x1b" not in shown and "\x07" not in shown


def test_notes_from_a_file_are_shown_as_escapes(rookery: Rookery, own_run: Path) -> None:
    note = {"kind": "note", "iteration": 2, "seconds": 1.0, "note": "\x1b]0;title\x07 \u202eabc"}
    with open(own_run / "stats.jsonl", "a") as file:
        file.write(json.dumps(note) + "\n")
    shown = rookery("watch", own_run, "--once").out
    assert "\\x1b]0;title" in shown and "\\u202eabc" in shown
    assert not {"\x1b", "\x07", "\u202e"} & set(shown)


def test_stray_files_among_weights_and_shards_are_ignored(rookery: Rookery, own_run: Path) -> None:
    newest = own_run / "weights" / "000002.safetensors"
    strays = [
        newest.with_name("zzz.safetensors"),
        newest.with_name("000003 (copy).safetensors"),
        newest.with_name("000009.safetensors.bak"),
        newest.with_name(os.fsdecode(b"\xff.safetensors")),
        own_run / "replay" / "best.safetensors",
    ]
    for stray in strays:
        stray.write_text("mine")
    assert rookery("eval", own_run, *OPTIONS["eval"]).code == 0
    answer = rookery("eval", f"{own_run}@7", *OPTIONS["eval"])
    assert answer.err.rstrip().endswith("has no weights of iteration 7; the nearest are 1, 2")
    assert rookery("resume", own_run, *OPTIONS["resume"]).code == 0
    assert all(stray.read_text() == "mine" for stray in strays)


def test_missing_newest_weights_are_noted(rookery: Rookery, own_run: Path) -> None:
    newest = own_run / "weights" / "000002.safetensors"
    newest.unlink()
    answer = rookery("eval", own_run, *OPTIONS["eval"])
    note = f"note: {newest} is missing; using the weights of iteration 1 instead\n"
    assert answer.code == 0 and answer.err == note


def test_an_unreadable_folder_is_not_called_empty(
    mistake: Mistake, own_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root may read everything, so the refusal is simulated where the system would refuse."""
    for name in ("listdir", "scandir"):
        real = getattr(os, name)

        def refuse(path: Path, real: Callable[[Path], object] = real) -> object:
            if Path(path) == own_run / "weights":
                raise PermissionError(errno.EACCES, "Permission denied", str(path))
            return real(path)

        monkeypatch.setattr(os, name, refuse)
    line = mistake("eval", own_run)
    assert f"cannot use {own_run / 'weights'}: Permission denied" in line


@pytest.mark.parametrize("writes", range(3))
@pytest.mark.parametrize("is_there", [False, True])
def test_a_disk_that_is_full_at_the_start_leaves_nothing(
    rookery: Rookery,
    mistake: Mistake,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    finished_run: Path,
    tiny: list[str],
    writes: int,
    is_there: bool,
) -> None:
    """The disk fills up after `writes` files: settings, the first weights, run.json."""
    short = ["--set", "run.strength_every=0", "--set", "run.iterations=1"]
    start = ["train", "tictactoe", "--run", tmp_path / "run", *tiny, *short]
    first = finished_run
    if is_there:
        (tmp_path / "run").mkdir()
    left = [writes]

    def full(file: int) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        line = mistake(*start, "--init", first)
    assert "no room left to create" in line and "free some space and start again" in line
    assert not (tmp_path / "run").exists()
    assert rookery(*start, "--init", first).code == 0
