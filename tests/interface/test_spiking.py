"""A spiking net by the commands that people type: trained, resumed, measured, gone on from."""

import json
from pathlib import Path

import pytest

from command_line import Mistake, Rookery
from rookery.interface.cli.app import run
from rookery.training import RunFolder, Stats

MORE = ("run.iterations=4", "run.strength_every=0", "selfplay.games=32", "net.kind=spiking")


@pytest.fixture(scope="module")
def spiking_run(tmp_path_factory: pytest.TempPathFactory, tiny: list[str]) -> Path:
    """A run of Tic-Tac-Toe with a spiking net, stopped and resumed."""
    path = tmp_path_factory.mktemp("runs") / "spiking"
    options = [*tiny, *(word for setting in (*MORE, "net.steps=3") for word in ("--set", setting))]
    assert run(["train", "tictactoe", "--run", str(path), *options]) == 0
    assert run(["resume", str(path), "--set", "run.iterations=6"]) == 0
    return path


def test_it_learns_and_goes_on(spiking_run: Path) -> None:
    lines = list(Stats(spiking_run).lines())
    turns = [line for line in lines if line["kind"] == "iteration"]
    assert [line["iteration"] for line in turns] == list(range(1, 7))
    losses = [line["learning"]["losses"]["total"] for line in turns if line["learning"]]
    assert losses[-1] < losses[0] - 0.1
    assert RunFolder(spiking_run).load_weights().header.config.kind == "spiking"


def test_eval_tells_how_much_it_spikes(
    rookery: Rookery, spiking_run: Path, finished_run: Path
) -> None:
    answer = rookery("eval", spiking_run, "--simulations", "0")
    assert answer.code == 0
    assert "spikes per evaluation: " in answer.out and "of 432 neurons x steps" in answer.out
    table = json.loads(rookery("eval", spiking_run, "--simulations", "0", "--json").out)
    assert 0 < table["spikes"]["mean"] < table["spikes"]["maximum"] == 2 * 8 * 9 * 3
    assert "operations per evaluation: " in answer.out and "residual network of the" in answer.out
    spiking, residual = (table["operations"][kind] for kind in ("spiking", "residual"))
    assert 0 < spiking["additions"] < 3 * residual["multiply_accumulates"]
    assert residual["microjoules"] == pytest.approx(4.6e-6 * residual["multiply_accumulates"])
    assert "spikes" not in rookery("eval", finished_run, "--simulations", "0").out


def test_it_plays_together_with_a_residual_net(
    rookery: Rookery, spiking_run: Path, finished_run: Path
) -> None:
    both = f"{spiking_run}+{finished_run}:4"
    answer = rookery("match", both, "random", "--games", 4, "--opening-plies", 1)
    assert answer.code == 0, answer


def test_a_run_begins_with_its_weights(
    rookery: Rookery, mistake: Mistake, spiking_run: Path, tiny: list[str], tmp_path: Path
) -> None:
    sized = tiny[: tiny.index("net.width=8") - 1] + tiny[tiny.index("net.depth=1") + 1 :]
    begun = ("train", "tictactoe", "--init", spiking_run, "--run")
    assert rookery(*begun, tmp_path / "more", *sized).code == 0
    assert RunFolder(tmp_path / "more").config.net == RunFolder(spiking_run).config.net
    line = mistake(*begun, tmp_path / "other", *sized, "--set", "net.kind=resnet")
    assert "net.kind is resnet, but spiking" in line
