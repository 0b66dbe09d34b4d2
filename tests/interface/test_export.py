"""`rookery export`: nets as files for other programs."""

import errno
import os
import sys
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch
from numpy.typing import NDArray
from torch import nn

from command_line import Mistake, Rookery
from rookery.arena import sample_boards
from rookery.games import load_game
from rookery.nets import CpuEvaluator, load
from rookery.training import PlayerSpec, RunFolder, load_shipped


def answers(
    net: nn.Module, boards: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """What the Evaluator says of boards of Tic-Tac-Toe."""
    return CpuEvaluator(net, (2, 3, 3), backend="float32")(boards)


def test_an_onnx_file_is_written_and_described(
    rookery: Rookery, finished_run: Path, tmp_path: Path
) -> None:
    out = tmp_path / "net.onnx"
    answer = rookery("export", f"{finished_run}@1", out)
    weights = RunFolder(finished_run).load_weights(1)
    size = f"{out.stat().st_size:,} bytes in {out}"
    assert answer.code == 0 and answer.err == "", answer
    assert answer.out.splitlines() == [
        f"tictactoe, resnet 8 x 1, after {weights.header.step} updates: {size}",
        "  input   planes [N, 2, 3, 3] float32",
        "  output  policy [N, 9] logits",
        "  output  wdl [N, 3] win, draw, loss for the player to move, probabilities",
    ]
    session = onnxruntime.InferenceSession(out)
    assert session.get_modelmeta().custom_metadata_map["fingerprint"] == weights.fingerprint
    boards = sample_boards(load_game("tictactoe"), 7)
    found = session.run(["policy", "wdl"], {"planes": boards})
    for mine, theirs in zip(found, answers(weights.build(), boards), strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-5)


def test_weights_are_written_as_they_are(
    rookery: Rookery, finished_run: Path, tmp_path: Path
) -> None:
    newest, first = tmp_path / "newest.safetensors", tmp_path / "first.safetensors"
    assert rookery("export", finished_run, newest).code == 0
    assert rookery("export", finished_run, first, "--iteration", 1).code == 0
    folder = RunFolder(finished_run).path / "weights"
    assert newest.read_bytes() == (folder / "000002.safetensors").read_bytes()
    assert first.read_bytes() == (folder / "000001.safetensors").read_bytes()


def test_half_the_bits_load_and_play(rookery: Rookery, finished_run: Path, tmp_path: Path) -> None:
    out, rules, full = tmp_path / "h.safetensors", load_game("tictactoe"), RunFolder(finished_run)
    answer = rookery("export", finished_run, out, "--half")
    assert answer.code == 0 and f"bytes in {out}" in answer.out
    weights, boards = load(out, full.game_spec()), sample_boards(rules, 64)
    assert {tensor.dtype for tensor in weights.state.values()} == {torch.float16, torch.int64}
    found, expected = answers(weights.build(), boards), answers(full.load_weights().build(), boards)
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, atol=0.01)
    player = PlayerSpec("net", simulations=4, weights=out.read_bytes(), inference="float32").player(
        rules, seed=1
    )
    assert player.choose(rules.new_states(3)).shape == (3,)


def test_the_net_of_a_game_is_exported(rookery: Rookery, tmp_path: Path) -> None:
    out = tmp_path / "connect4.safetensors"
    assert rookery("export", "connect4", out, "--half").code == 0
    assert load(out).fingerprint == load_shipped(load_game("connect4")).fingerprint


@pytest.mark.parametrize(
    ("run", "out", "options", "found"),
    [
        ("RUN", "net.pt", [], "net.pt must end in .onnx or .safetensors"),
        ("RUN", "net", [], "net must end in .onnx or .safetensors"),
        ("RUN", "mine.onnx", [], "mine.onnx exists already and is not overwritten"),
        ("RUN", "link.safetensors", [], "link.safetensors exists already and is not overwritten"),
        ("RUN", "missing/net.onnx", [], "there is no folder missing"),
        ("RUN", "mine.onnx/net.onnx", [], "there is no folder mine.onnx"),
        ("RUN", "net.onnx", ["--half"], "half is for .safetensors"),
        ("RUNX", "net.onnx", [], "unknown run folder"),
        ("RUN@7", "net.onnx", [], "no weights of iteration 7"),
        ("RUN", "net.onnx", ["--iteration", "7"], "no weights of iteration 7"),
        ("RUN+RUN", "net.onnx", [], "a file holds one network, got"),
        ("conect4", "net.onnx", [], "did you mean connect4?"),
        ("connect4", "net.onnx", ["--iteration", "7"], "has no iterations"),
        ("solver", "net.onnx", [], "solver is a player without a network"),
        ("RUN", None, [], "see rookery --help"),
    ],
)
def test_what_cannot_be_writes_nothing(
    mistake: Mistake,
    finished_run: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    run: str,
    out: str | None,
    options: list[str],
    found: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.onnx").write_text("mine")
    Path("link.safetensors").symlink_to("nowhere")
    words = [run.replace("RUN", str(finished_run)), *([out] if out else []), *options]
    assert found in mistake("export", *words)
    assert sorted(os.listdir()) == ["link.safetensors", "mine.onnx"]
    assert Path("mine.onnx").read_text() == "mine"


def test_without_the_extra_one_line_says_what_to_install(
    mistake: Mistake, finished_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnxscript", None)
    line = mistake("export", finished_run, tmp_path / "net.onnx")
    assert "needs onnx and onnxscript (pip install 'rookery[export]')" in line
    assert not list(tmp_path.iterdir())


def test_a_full_disk_leaves_nothing_behind(
    mistake: Mistake, finished_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(file: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert "no room left" in mistake("export", finished_run, tmp_path / "net.safetensors")
    assert not list(tmp_path.iterdir())
