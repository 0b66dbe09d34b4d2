"""`rookery train --init`: a run that goes on from another net."""

import json
import shutil
from pathlib import Path

import pytest

from command_line import Mistake, Rookery
from rookery.training import RunFolder


@pytest.fixture
def short(tiny: list[str]) -> list[str]:
    """The options that shrink a run, without those of the net."""
    pairs = list(zip(tiny[::2], tiny[1::2], strict=True))
    kept = [pair for pair in pairs if not pair[1].startswith("net.")]
    extra = [("--set", "run.strength_every=0"), ("--set", "run.iterations=1")]
    return [word for pair in (*kept, *extra) for word in pair]


@pytest.mark.parametrize("text", ["RUN", "RUN@1", "FILE"])
def test_a_run_takes_weights_and_shape_from_another(
    rookery: Rookery, short: list[str], finished_run: Path, tmp_path: Path, text: str
) -> None:
    iteration = 1 if text == "RUN@1" else 2
    file = shutil.copy(finished_run / "weights" / "000002.safetensors", tmp_path)
    source = text.replace("RUN", str(finished_run)).replace("FILE", str(file))
    answer = rookery("train", "tictactoe", "--run", tmp_path / "run", "--init", source, *short)
    assert answer.code == 0 and f", starting from {source}\n" in answer.out
    run, origin = RunFolder(tmp_path / "run"), RunFolder(finished_run)
    assert run.config.net == origin.config.net
    assert run.origin is not None and run.origin.source == source
    assert run.load_weights(0).fingerprint == origin.load_weights(iteration).fingerprint
    assert run.load_weights().fingerprint != run.load_weights(0).fingerprint


def test_a_run_can_be_compared_with_what_it_began_with(
    rookery: Rookery, short: list[str], finished_run: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    assert rookery("train", "tictactoe", "--run", run, "--init", finished_run, *short).code == 0
    words = ["match", f"{run}@0:2", f"{finished_run}:2", "--games", 8, "--json"]
    assert json.loads(rookery(*words).out)["difference"]["elo"] == 0.0


@pytest.mark.parametrize(
    ("source", "options", "note"),
    [
        ("RUN", ["--set", "net.width=16"], "; new: stem, blocks, policy.conv.weight, value.conv"),
        (
            "connect4",
            ["--set", "net.depth=1"],
            ", a network of connect4 version 1; new: policy.last, value.hidden.weight",
        ),
    ],
)
def test_what_does_not_fit_is_announced(
    rookery: Rookery,
    short: list[str],
    finished_run: Path,
    tmp_path: Path,
    source: str,
    options: list[str],
    note: str,
) -> None:
    named = source.replace("RUN", str(finished_run))
    words = ["--run", tmp_path / "run", "--init", named, *short, *options]
    answer = rookery("train", "tictactoe", *words)
    assert answer.code == 0 and f"tensors from {named}{note}" in answer.out


@pytest.mark.parametrize(
    ("game", "source", "options", "found"),
    [
        ("tictactoe", "RUNX", [], "unknown run folder"),
        ("tictactoe", "RUN@7", [], "no weights of iteration 7"),
        ("tictactoe", "lost.safetensors", [], "lost.safetensors does not exist"),
        ("tictactoe", "notes.safetensors", [], "not a Rookery file"),
        ("tictactoe", "solver", [], "--init takes the weights of one network, got solver"),
        ("tictactoe", "RUN+RUN", [], "--init takes the weights of one network, got"),
    ],
)
def test_what_does_not_fit_starts_nothing(
    mistake: Mistake,
    finished_run: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    game: str,
    source: str,
    options: list[str],
    found: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("notes.safetensors").write_text("mine")
    named = source.replace("RUN", str(finished_run))
    assert found in mistake("train", game, "--init", named, *options)
    assert not Path("runs").exists()
