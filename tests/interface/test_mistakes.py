"""Bad input: one clear line, exit code 2, and nothing damaged."""

import errno
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import Mistake, Rookery
from rookery.gpu import why_cpu
from rookery.interface.cli.failures import explain
from rookery.interface.stats_tail import StatsTail

MISSING = why_cpu("auto").removeprefix("on the CPU: ")


def content(folder: Path) -> dict[str, bytes]:
    """Every file of a run folder but its lock."""
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(p.relative_to(folder)): p.read_bytes() for p in paths if p.name != ".lock"}


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (["tictacto"], "unknown game 'tictacto'; did you mean tictactoe?"),
        (["missing.py"], "there is no rules file "),
        (["tictactoe", "--recipe", "tictactoe-dmo"], "did you mean tictactoe-demo?"),
        (["tictactoe", "--recipe", "connect4-laptop"], "unknown recipe for tictactoe"),
        (["tictactoe", "--set", "serch.considered=8"], "did you mean search.considered?"),
        (["tictactoe", "--set", "run=8"], "unknown setting"),
        (
            ["tictactoe", "--set", "search.considered"],
            "expected a setting like search.considered=8",
        ),
        (["tictactoe", "--set", "search.considered=many"], "search.considered"),
        (["tictactoe", "--set", "search.considered=0"], "search.considered"),
        (
            ["tictactoe", "--set", "selfplay.games=0"],
            "selfplay.games is 0, expected ",
        ),
        (["tictactoe", "--set", "selfplay.simulations=8@x"], "selfplay.simulations"),
        (["tictactoe", "--set", "run.inference=fast"], "inference"),
        (["tictactoe", "--set", "search.method=pukt"], "did you mean puct?"),
        (["tictactoe", "--minutes", "-1"], "run.minutes is -1.0, expected a number from 0"),
        (["tictactoe", "--minutes", "nan"], "run.minutes"),
        (["tictactoe", "--devices", "cuda:0"], f"cuda:0 cannot be used: {MISSING}; use "),
        (["tictactoe", "--devices", "all"], f"all cannot be used: {MISSING}; use "),
        (["tictactoe", "--devices", "cpu,cuda:3"], "cuda:3 cannot be used: "),
        (
            ["tictactoe", "--devices", "cpu,cpu"],
            "several devices must all be NVIDIA GPUs, got cpu,cpu",
        ),
        (["tictactoe", "--devices", "gpu"], "unknown device 'gpu'"),
    ],
)
def test_a_wrong_command_starts_nothing(
    mistake: Mistake,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    found: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert found in mistake("train", *arguments)
    assert not list(tmp_path.iterdir())


def test_two_iterations_at_once_are_a_mistake(mistake: Mistake, finished_run: Path) -> None:
    told = mistake("eval", f"{finished_run}@1", "--iteration", 2)
    assert "and --iteration 2 name different iterations" in told


@pytest.mark.parametrize("closed", ["<&-", ">&-"])
def test_a_process_may_be_started_without_a_terminal(
    environment: dict[str, str], finished_run: Path, closed: str
) -> None:
    command = f"{sys.executable} -m rookery analyse {finished_run} --simulations 1 5 {closed}"
    done = subprocess.run(command, shell=True, env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == ""


def test_more_than_fits_into_memory_is_told_in_a_line() -> None:
    line = explain(MemoryError("Unable to allocate 60 GiB"))
    assert line is not None and line.startswith("out of memory;")


def test_brackets_in_a_name_are_letters_like_any_other(
    rookery: Rookery, tmp_path: Path, finished_run: Path
) -> None:
    run = shutil.copytree(finished_run, tmp_path / "net[a]")
    answer = rookery("match", f"{run}:1", "random", "--games", 2, "--workers", 0)
    assert answer.code == 0 and answer.out.count("net[a]") > 1


def test_an_existing_folder_is_not_trained_over(mistake: Mistake, own_run: Path) -> None:
    before = content(own_run)
    line = mistake("train", "tictactoe", "--run", own_run)
    assert "exists already" in line and f"rookery resume {own_run}" in line
    assert content(own_run) == before


def test_a_file_is_no_run_folder(mistake: Mistake, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("mine")
    assert "exists already" in mistake("train", "tictactoe", "--run", path)
    assert "is not a run folder" in mistake("resume", path)
    assert path.read_text() == "mine"


def test_a_place_below_a_file_is_a_mistake(mistake: Mistake, tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("mine")
    assert "cannot use" in mistake("train", "tictactoe", "--run", tmp_path / "notes" / "run")


@pytest.mark.parametrize("command", ["resume", "eval", "analyse", "play"])
def test_a_missing_folder_is_a_mistake(mistake: Mistake, tmp_path: Path, command: str) -> None:
    assert str(tmp_path / "nothing") in mistake(command, tmp_path / "nothing")


@pytest.mark.parametrize("lost", ["run.json", "config.json"])
@pytest.mark.parametrize("command", ["resume", "eval", "analyse", "play"])
def test_a_half_written_folder_is_a_mistake(
    mistake: Mistake, own_run: Path, command: str, lost: str
) -> None:
    (own_run / lost).unlink()
    assert f"({lost} is missing)" in mistake(command, own_run)


def rewrite(path: Path, **changes: object) -> None:
    """Change entries of a JSON file."""
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_a_folder_of_a_newer_version_is_a_mistake(mistake: Mistake, own_run: Path) -> None:
    rewrite(own_run / "run.json", format=99)
    assert "newer Rookery (format 99" in mistake("resume", own_run)


def test_a_folder_of_other_rules_is_a_mistake(mistake: Mistake, own_run: Path) -> None:
    rewrite(own_run / "run.json", version=7)
    assert "tictactoe version 7, but the rules here" in mistake("resume", own_run)
    rewrite(own_run / "run.json", version=1, game="connect4")
    assert "a run of connect4" in mistake("eval", own_run)


@pytest.mark.parametrize(
    "text", [b"", b"{", b"[]", b'{"run": 5}', b'{"game": "tictactoe"}', b"\xff"]
)
@pytest.mark.parametrize("name", ["run.json", "config.json"])
def test_a_damaged_description_is_a_mistake(
    mistake: Mistake, own_run: Path, name: str, text: bytes
) -> None:
    (own_run / name).write_bytes(text)
    mistake("resume", own_run)


def test_an_unknown_setting_in_the_folder_is_a_mistake(mistake: Mistake, own_run: Path) -> None:
    rewrite(own_run / "config.json", speed={"warp": 9})
    assert "unknown setting 'speed'" in mistake("resume", own_run)


def damage(path: Path, how: str) -> None:
    """Cut a file in half, or turn one bit in its middle."""
    raw = bytearray(path.read_bytes())
    if how == "cut":
        raw = raw[: len(raw) // 2]
    elif how == "empty":
        raw.clear()
    else:
        raw[len(raw) // 2] ^= 1
    path.write_bytes(bytes(raw))


@pytest.mark.parametrize("how", ["cut", "empty", "altered"])
@pytest.mark.parametrize("command", ["eval", "analyse", "play"])
def test_damaged_weights_are_not_loaded(
    mistake: Mistake, own_run: Path, command: str, how: str
) -> None:
    path = own_run / "weights" / "000002.safetensors"
    damage(path, how)
    line = mistake(command, own_run)
    assert str(path) in line and "restore it from a copy" in line


@pytest.mark.parametrize("how", ["cut", "empty", "altered"])
@pytest.mark.parametrize("name", ["checkpoint.safetensors", "replay"])
def test_a_run_with_damaged_files_is_not_resumed(
    mistake: Mistake, own_run: Path, name: str, how: str
) -> None:
    path = own_run / name
    if path.is_dir():
        path = min(path.iterdir())
    damage(path, how)
    before = content(own_run / "replay")
    assert str(path) in mistake("resume", own_run, "--set", "run.iterations=3")
    assert content(own_run / "replay") == before


def test_a_lost_shard_is_named(mistake: Mistake, own_run: Path) -> None:
    path = sorted((own_run / "replay").iterdir())[0]
    path.unlink()
    assert f"{path} is missing" in mistake("resume", own_run, "--set", "run.iterations=3")


def test_a_net_of_another_shape_is_a_mistake(mistake: Mistake, own_run: Path) -> None:
    line = mistake("resume", own_run, "--set", "net.width=16", "--set", "run.iterations=9")
    assert "net settings cannot change" in line
    assert json.loads((own_run / "config.json").read_text())["run"]["iterations"] == 2


def test_a_run_without_weights_cannot_play(mistake: Mistake, own_run: Path) -> None:
    shutil.rmtree(own_run / "weights")
    assert "has no weights yet" in mistake("eval", own_run)


@pytest.mark.parametrize("writes", range(4))
def test_a_full_disk_ends_the_run_and_damages_nothing(
    rookery: Rookery, mistake: Mistake, own_run: Path, monkeypatch: pytest.MonkeyPatch, writes: int
) -> None:
    """The disk fills up after `writes` files: settings, statistics, a shard, weights, ..."""
    more = ("resume", own_run, "--set", "run.iterations=3")
    flush, left = os.fsync, [writes + 1]

    def full(file: int) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        flush(file)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        assert "no room left to write" in mistake(*more)
    assert not list(own_run.rglob("*.draft"))
    assert rookery(*more).code == 0


def test_a_full_disk_for_the_statistics_is_told_too(
    mistake: Mistake, own_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (own_run / "stats.jsonl").unlink()
    (own_run / "stats.jsonl").symlink_to("/dev/full")
    monkeypatch.setattr("rookery.training.Stats.forget_after", lambda self, iteration: None)
    monkeypatch.setattr("rookery.training.Stats.lines", lambda self: iter(()))
    monkeypatch.setattr(StatsTail, "read", lambda self: ([], True))
    assert "no room left to write" in mistake("resume", own_run, "--set", "run.iterations=3")
