"""`rookery checkpoint` and `rookery resume --at`: keep a checkpoint and continue from it."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from command_line import Mistake, Rookery
from rookery.interface.run_history import read_history
from rookery.training import read_identity

DEADLINE_SECONDS = 240


@pytest.fixture
def named_run(rookery: Rookery, own_run: Path) -> Path:
    """A finished run of two iterations whose last checkpoint has a name."""
    answer = rookery("checkpoint", own_run, "good")
    assert answer.code == 0 and answer.err == ""
    assert answer.out.startswith("Kept iteration 2 as good; continue from it with: ")
    assert answer.out.endswith(f"rookery resume {own_run} --at good\n")
    return own_run


def test_the_checkpoints_of_a_run_are_listed(rookery: Rookery, named_run: Path) -> None:
    assert rookery("checkpoint", named_run).out.startswith("2, good; continue from one with: ")


def test_a_run_continues_in_a_new_folder(rookery: Rookery, named_run: Path) -> None:
    again = ("resume", named_run, "--at", "good", "--iterations", 3)
    for name in ("own-at-good", "own-at-good-1"):
        answer = rookery(*again, "--set", "run.strength_every=0")
        new = named_run.with_name(name)
        assert answer.code == 0 and answer.err == ""
        assert f"Continuing tictactoe from checkpoint good of {named_run} in {new}" in answer.out
        assert f"Finished: tictactoe in {new}" in answer.out
        assert read_history(new).iteration == 3 and read_history(named_run).iteration == 2
        assert read_identity(new).parent is not None
    assert read_history(new).notes[0].text == f"continues {named_run} from iteration 2"
    assert "continues" in rookery("watch", new, "--once").out


def test_run_chooses_the_folder(rookery: Rookery, mistake: Mistake, named_run: Path) -> None:
    new = named_run.with_name("mine")
    assert "--run needs --at" in mistake("resume", named_run, "--run", new)
    words = ("resume", named_run, "--at", 2, "--run", new, "--iterations", 3)
    assert rookery(*words, "--set", "run.strength_every=0").code == 0
    assert read_history(new).iteration == 3
    assert "mine exists already" in mistake(*words)


def test_a_run_continues_from_within_its_own_folder(
    rookery: Rookery, named_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(named_run)
    options = ("--iterations", 3, "--set", "run.strength_every=0")
    assert rookery("resume", ".", "--at", "2", *options).code == 0
    assert read_history(named_run.with_name("own-at-2")).iteration == 3


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["resume", "RUN", "--at", "1"], "has no checkpoint of iteration 1; it has 2, good"),
        (["resume", "RUN", "--at", "bad"], "has no checkpoint named 'bad'; it has 2, good"),
        (["resume", "RUN", "--at", "../" * 9], "has no checkpoint named '../"),
        (["resume", "RUN", "--at", "x" * 5000], "has no checkpoint named 'xxx"),
        (["resume", "RUN", "--at", "9" * 5000], "has no checkpoint of iteration 999"),
        (["resume", "RUN", "--at", "\x1b[31m"], "has no checkpoint named"),
        (["resume", "RUN", "--at", "2"], "let it train longer with --iterations or --minutes"),
        (["checkpoint", "RUN", "../x"], "'../x' cannot name a checkpoint"),
        (["checkpoint", "RUN", "\x1b[31m"], "cannot name a checkpoint"),
        (["checkpoint", "RUN", "x" * 5000], "cannot name a checkpoint"),
        (["checkpoint", "RUN", "2"], "cannot name a checkpoint"),
        (["checkpoint", "RUN", "good"], "has a checkpoint good already"),
        (["checkpoint", "nowhere", "good"], "nowhere is not a run folder"),
    ],
)
def test_a_mistake_is_one_line_and_changes_nothing(
    mistake: Mistake, named_run: Path, words: list[str], found: str
) -> None:
    before = sorted(named_run.parent.rglob("*"))
    line = mistake(*(str(named_run) if word == "RUN" else word for word in words))
    assert found in line and len(line) < 500 and "\x1b" not in line
    assert sorted(named_run.parent.rglob("*")) == before


@pytest.mark.parametrize("kind", ["file", "pipe", "empty"])
def test_odd_things_in_place_of_checkpoints_are_one_line(
    mistake: Mistake, own_run: Path, kind: str
) -> None:
    if kind == "file":
        (own_run / "checkpoints").write_text("mine")
        assert "checkpoints" in mistake("resume", own_run, "--at", "odd")
        assert "checkpoints" in mistake("checkpoint", own_run, "odd")
        return
    (own_run / "checkpoints/odd").mkdir(parents=True)
    if kind == "pipe":
        os.mkfifo(own_run / "checkpoints/odd/checkpoint.safetensors")
    line = mistake("resume", own_run, "--at", "odd", "--iterations", 3)
    assert "checkpoints/odd/checkpoint.safetensors is " in line
    assert not own_run.with_name("own-at-odd").exists()


def test_a_damaged_parent_in_an_identity_is_one_line(mistake: Mistake, own_run: Path) -> None:
    path = own_run / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "parent": {"run": 3}}))
    assert "run.json is damaged" in mistake("resume", own_run)


def test_a_checkpoint_can_be_named_while_the_run_trains(
    rookery: Rookery, tiny: list[str], environment: dict[str, str], tmp_path: Path
) -> None:
    run = tmp_path / "run"
    options = ["--set", "run.iterations=0", "--set", "run.strength_every=0"]
    command = ["train", "tictactoe", "--run", str(run), *tiny, *options]
    trainer = subprocess.Popen(
        [sys.executable, "-m", "rookery", *command], stdout=subprocess.DEVNULL, env=environment
    )
    try:
        end = time.monotonic() + DEADLINE_SECONDS
        while not (run / "checkpoint.safetensors").exists():
            assert trainer.poll() is None and time.monotonic() < end
            time.sleep(0.1)
        answers = [rookery("checkpoint", run, f"n{number}") for number in range(20)]
        assert [answer.code for answer in answers] == [0] * 20, answers
        assert trainer.poll() is None, "the run goes on"
    finally:
        trainer.terminate()
        trainer.wait()
    shutil.rmtree(run / "replay")
    reached = read_history(run).iteration
    for name in ("n0", "n19"):
        options = ["--iterations", str(reached + 1), "--set", "run.strength_every=0"]
        assert rookery("resume", run, "--at", name, *options).code == 0
