"""Commands with `--devices mps`, the GPU of an Apple computer, whose place the CPU takes."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

import rookery as rk
from command_line import Mistake, Rookery
from rookery.gpu import devices
from rookery.nets.inference.mps import MpsBackend
from rookery.training import Stats

NOTE = "note: learning on the CPU: an Apple GPU only evaluates the network"


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of positions of each call of the device."""
    seen, call = list[int](), MpsBackend.__call__

    def counted(self: MpsBackend, planes: torch.Tensor) -> Any:
        seen.append(len(planes))
        return call(self, planes)

    monkeypatch.setattr(MpsBackend, "__call__", counted)
    monkeypatch.setattr(MpsBackend, "device", torch.device("cpu"))
    monkeypatch.setattr(devices, "_missing_for_gpu", lambda: "torch was built without CUDA")
    monkeypatch.setattr(devices, "_missing_for_mps", lambda: "")
    return seen


@pytest.fixture
def mps_tiny(tiny: list[str]) -> list[str]:
    return ["run.inference=mps-float32" if each.startswith("run.inf") else each for each in tiny]


def test_a_run_plays_on_it_and_learns_on_the_cpu(
    rookery: Rookery, mps_tiny: list[str], tmp_path: Path, calls: list[int]
) -> None:
    run = tmp_path / "run"
    answer = rookery("train", "tictactoe", "--run", run, "--devices", "mps", *mps_tiny)
    assert answer.code == 0 and NOTE in answer.out.splitlines(), answer.err
    assert max(calls) == 16, "all games are one batch"
    (start,) = (line for line in Stats(run).lines() if line["kind"] == "started")
    assert (start["device"], start["devices"]) == ("cpu", ["mps"])
    calls.clear()
    longer = rookery("resume", run, "--set", "run.iterations=3", "--devices", "auto")
    assert longer.code == 0 and calls, "auto is mps"


def test_a_run_moves_between_it_and_the_cpu(
    rookery: Rookery, mps_tiny: list[str], tmp_path: Path, calls: list[int]
) -> None:
    run, auto = tmp_path / "run", ["--set", "run.inference=auto"]
    rookery("train", "tictactoe", "--run", run, "--devices", "mps", *mps_tiny)
    calls.clear()
    there = rookery("resume", run, *auto, "--set", "run.iterations=3", "--devices", "cpu")
    assert there.code == 0 and not calls, there.err
    back = rookery("resume", run, "--set", "run.iterations=4", "--devices", "mps")
    assert back.code == 0 and calls, back.err


def test_backends_of_the_cpu_are_refused(
    tmp_path: Path, mistake: Mistake, calls: list[int]
) -> None:
    line = mistake(
        "train",
        "tictactoe",
        "--devices",
        "mps",
        "--set",
        "run.inference=float16",
        "--run",
        tmp_path,
    )
    assert "run.inference on mps" in line and "mps-float16" in line


@pytest.mark.parametrize(
    "arguments",
    [
        ["eval", "--simulations", 2, "--json"],
        ["match", "random", "--games", 2, "--json"],
        ["analyse", "19", "--simulations", 2],
    ],
)
def test_networks_are_evaluated_on_it(
    rookery: Rookery, finished_run: Path, calls: list[int], arguments: list[object]
) -> None:
    command, *options = arguments
    answer = rookery(command, finished_run, *options, "--devices", "mps")
    assert answer.code == 0 and json.loads(answer.out), answer.err
    assert calls


def test_a_person_plays_against_it(rookery: Rookery, finished_run: Path, calls: list[int]) -> None:
    answer = rookery(
        "play", finished_run, "--simulations", 2, "--devices", "mps", typed="5\nquit\n"
    )
    assert answer.code == 0 and calls, answer.err


def test_uci_searches_with_it(rookery: Rookery, chess_run: Path, calls: list[int]) -> None:
    answer = rookery("uci", chess_run, "--devices", "mps", typed="go nodes 4\nquit\n")
    assert answer.code == 0 and "bestmove" in answer.out and calls


def test_networks_in_python_are_on_it(finished_run: Path, calls: list[int]) -> None:
    net = rk.load_net(finished_run, devices="mps")
    assert rk.analyse(rk.Board("tictactoe", "1"), net, simulations=4).move
    assert calls


def test_it_must_be_there(mistake: Mistake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "_missing_for_mps", lambda: "no Apple GPU was found")
    line = mistake("train", "tictactoe", "--devices", "mps")
    assert "mps cannot be used: no Apple GPU was found; use --devices cpu" in line
