"""Commands that open a stranger's run folder execute nothing that it names."""

import json
import shutil
from pathlib import Path

import pytest

from command_line import Mistake, Rookery
from own_rules import forget_rules, marked_rules, strangers_run
from rookery.training import apply, recipe_for, to_json

UNTRUSTED = "which this user has not trusted; read that file, then repeat the command with"


@pytest.fixture
def stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """A run that another user trained with rules of their own, and the mark that these leave."""
    return strangers_run(tmp_path, monkeypatch)


COMMANDS = {
    "resume": "resume RUN",
    "play": "play RUN",
    "play against": "play tictactoe --opponent RUN",
    "eval": "eval RUN",
    "average": "eval RUN+RUN",
    "match": "match RUN random",
    "match of two": "match RUN RUN@1:5",
    "rate": "rate RUN --rungs random",
    "analyse": "analyse RUN 12",
    "uci": "uci RUN",
    "export": "export RUN OUT.onnx",
    "games export": "games export RUN --pgn OUT.pgn",
    "train": "train tictactoe --init RUN --run OUT",
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_strangers_rules_are_not_executed(
    mistake: Mistake, stranger: tuple[Path, Path], tmp_path: Path, command: str
) -> None:
    run, mark = stranger
    words = COMMANDS[command].replace("RUN", str(run)).replace("OUT", str(tmp_path / "out"))
    line = mistake(*words.split())
    assert f"{run} was trained with the rules in {run.parent / 'mine.py'}, {UNTRUSTED}" in line
    assert line.endswith("--trust-rules") and not mark.exists()


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_that_opens_a_run_takes_the_users_word(
    rookery: Rookery, command: str
) -> None:
    words = COMMANDS[command].partition(" RUN")[0].split()
    name = words[:2] if words[0] == "games" else words[:1]
    assert "--trust-rules" in rookery(*name, "--help").out


def test_watch_never_needs_the_rules(rookery: Rookery, stranger: tuple[Path, Path]) -> None:
    run, mark = stranger
    answer = rookery("watch", run, "--once")
    assert answer.code == 0 and "mine in" in answer.out and not mark.exists()
    (run.parent / "mine.py").unlink()
    assert rookery("watch", run, "--once").code == 0


def test_a_strangers_study_is_not_executed(mistake: Mistake, stranger: tuple[Path, Path]) -> None:
    pytest.importorskip("optuna")
    run, mark = stranger
    study = run.parent / "study"
    study.mkdir()
    config = json.loads(to_json(apply(recipe_for("tictactoe"), ["run.iterations=1"])))
    content = {"config": {**config, "game": str(run.parent / "mine.py")}, "space": []}
    (study / "study.json").write_text(json.dumps(content))
    shutil.copytree(run, study / "trial-0000")
    options = ("--devices", "cpu", "--set", "run.iterations=1", "--trials", 1)
    mistake("tune", "tictactoe", "--study", study, *options)
    assert not mark.exists()


def test_the_users_word_opens_the_run_and_is_remembered(
    rookery: Rookery, stranger: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    run, mark = stranger
    answer = rookery("analyse", run, "12", "--simulations", 2, "--trust-rules")
    assert answer.code == 0 and json.loads(answer.out)["position"] == "12" and mark.exists()
    forget_rules(monkeypatch)
    assert rookery("match", run, "random", "--games", 2, "--workers", 0).code == 0


def test_your_own_training_needs_no_word(
    rookery: Rookery,
    mistake: Mistake,
    tiny: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    forget_rules(monkeypatch, tmp_path / "state")
    rules, mark = marked_rules(tmp_path)
    run, short = tmp_path / "run", ["--set", "run.strength_every=0", "--set", "run.iterations=1"]
    assert rookery("train", rules, "--run", run, *tiny, *short).code == 0
    forget_rules(monkeypatch)
    answer = rookery("match", run, "random", "--games", 2, "--workers", 1)
    assert answer.code == 0, answer
    mark.unlink()
    rules.write_text(rules.read_text() + "\n")
    forget_rules(monkeypatch)
    assert f"the rules in {rules} have changed since {run} was trained" in mistake("eval", run)
    assert not mark.exists()
    assert rookery("resume", run, "--trust-rules").code == 0
    assert mark.exists()


def test_a_file_that_the_user_names_is_the_users_word(
    rookery: Rookery, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget_rules(monkeypatch, tmp_path / "state")
    rules, mark = marked_rules(tmp_path)
    answer = rookery("match", "random", "minimax:1", "--game", rules, "--games", 2, "--workers", 0)
    assert answer.code == 0 and mark.exists()
    assert not (tmp_path / "state").exists(), "nothing is trusted beyond this command"
