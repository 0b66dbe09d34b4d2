"""`--devices auto` without a GPU: every command says why it is on the CPU, in one line."""

import json
from pathlib import Path

import pytest

from command_line import Rookery
from rookery.gpu import devices
from rookery.training import Stats

WHY = "on the CPU: the driver sleeps"
NOTE = f"note: {WHY}"


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "_missing_for_gpu", lambda: "the driver sleeps")
    monkeypatch.setattr(devices, "_missing_for_mps", lambda: "no Apple GPU was found")


def test_a_run_prints_and_records_it(rookery: Rookery, tiny: list[str], tmp_path: Path) -> None:
    run = tmp_path / "run"
    answer = rookery("train", "tictactoe", "--run", run, *tiny, "--set", "run.strength_every=0")
    assert answer.code == 0 and answer.out.splitlines()[1] == NOTE
    (start,) = (line for line in Stats(run).lines() if line["kind"] == "started")
    assert start["device_note"] == WHY and start["devices"] == ["cpu"]
    assert WHY in rookery("watch", run).out
    longer = rookery("resume", run, "--set", "run.iterations=3")
    assert longer.out.splitlines()[1] == NOTE
    asked = rookery("resume", run, "--set", "run.iterations=4", "--devices", "cpu")
    assert asked.code == 0 and WHY not in asked.out
    assert [*Stats(run).lines()][-1]["kind"] == "finished"
    assert WHY not in rookery("watch", run).out, "the CPU was asked for"


@pytest.mark.parametrize(
    "arguments", [["eval", "--simulations", 0], ["match", "random", "--games", 2]]
)
def test_people_read_it_and_json_does_not_contain_it(
    rookery: Rookery, finished_run: Path, arguments: list[object]
) -> None:
    command, *options = arguments
    answer = rookery(command, finished_run, *options)
    assert answer.out.splitlines().count(NOTE) == 1
    plain = rookery(command, finished_run, *options, "--json")
    assert json.loads(plain.out) and plain.err == ""
    assert WHY not in rookery(command, finished_run, *options, "--devices", "cpu").out


def test_players_without_a_network_need_no_device(rookery: Rookery) -> None:
    arguments = ["random", "minimax:1", "--game", "tictactoe", "--games", 2]
    answer = rookery("match", *arguments)
    assert answer.code == 0 and WHY not in answer.out


def test_a_game_says_it_if_auto_was_asked_for(rookery: Rookery, finished_run: Path) -> None:
    arguments = ["play", finished_run, "--simulations", 1]
    assert NOTE in rookery(*arguments, "--devices", "auto", typed="quit\n").out.splitlines()
    assert WHY not in rookery(*arguments, typed="quit\n").out


def test_analyses_stay_json_lines(rookery: Rookery, finished_run: Path) -> None:
    answer = rookery("analyse", finished_run, "19", "--simulations", 1, "--devices", "auto")
    assert answer.err == f"{NOTE}\n"
    assert [json.loads(line)["position"] for line in answer.out.splitlines()] == ["19"]


def test_a_chess_program_gets_an_info_string(rookery: Rookery, chess_run: Path) -> None:
    answer = rookery("uci", chess_run, "--devices", "auto", typed="quit\n")
    assert answer.code == 0 and answer.out == f"info string {WHY}\n"
    assert rookery("uci", chess_run, typed="quit\n").out == ""
