"""Numbers out of range: one line that names option and range, at once, and nothing is created."""

from pathlib import Path
from typing import Any

import pytest

from command_line import Mistake
from rookery.base import ConfigError
from rookery.interface.cli.failures import explain
from rookery.training import Config, apply, setting_names

OUT = ("9" * 20, "9" * 5000, "-1", "1e400", "nan", "-inf", "-" + "9" * 5000)
WORDS = ("run.devices", "run.cluster", "run.elo_anchors", "learning.freeze", "learning.own_losses")
"""Settings that are neither a number nor one of a few words."""


@pytest.mark.parametrize("name", sorted({*setting_names()} - {*WORDS}))
def test_no_setting_takes_a_number_out_of_its_range(name: str) -> None:
    config = Config(game="tictactoe", recipe="any")
    for number in OUT:
        if name == "search.first_play_reduction" and number == "-1":
            continue
        with pytest.raises(ConfigError) as refused:
            apply(config, [f"{name}={number}"])
        line = str(explain(refused.value))
        assert name in line and len(line) < 500
        assert any(word in line for word in (" from ", "unknown", "should be a valid boolean"))


def test_a_setting_out_of_range_creates_nothing(
    mistake: Mistake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for number in OUT:
        assert "run.moves is " in mistake("train", "tictactoe", "--set", f"run.moves={number}")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "option", "limits"),
    [
        (["train", "tictactoe", "--actors"], "run.actors", "from 0 to 1,024"),
        (["train", "tictactoe", "--minutes"], "run.minutes", "from 0 to 10,000,000"),
        (["train", "tictactoe", "--iterations"], "--iterations", "from 0 to 1,000,000,000"),
        (["tune", "tictactoe", "--trials"], "--trials", "from 1 to 1,000,000"),
        (["match", "random", "random", "--game", "tictactoe", "--games"], "--games", "from 2 to "),
        (["match", "random", "random", "--game", "tictactoe", "--seed"], "--seed", "from 0 to 9,"),
        (
            ["match", "random", "random", "--game", "tictactoe", "--opening-plies"],
            "--opening-plies",
            "from 0 to 1,000",
        ),
        (["match", "random", "random", "--game", "tictactoe", "--workers"], "--workers", "1,024"),
        (["rate", "random", "--games"], "--games", "from 2 to "),
        (["rate", "random", "--at-once"], "--at-once", "from 2 to "),
        (["rate", "random", "--width"], "--width", "from 0 to 10,000"),
        (["rate", "random", "--simulations"], "--simulations", "from 0 to 100,000"),
        (["eval", "connect4", "--simulations"], "--simulations", "from 0 to 100,000"),
        (["eval", "connect4", "--iteration"], "--iteration", "from 0 to 1,000,000,000"),
        (["eval", "connect4", "--workers"], "--workers", "from 0 to 1,024, or auto"),
        (["analyse", "connect4", "--simulations"], "--simulations", "from 0 to 100,000"),
        (["play", "tictactoe", "--simulations"], "--simulations", "from 0 to 100,000"),
        (["play", "tictactoe", "--seed"], "--seed", "from 0 to 9,"),
        (["export", "connect4", "x.onnx", "--iteration"], "--iteration", "from 0 to "),
        (["games", "export", "run", "--pgn", "x.pgn", "--games"], "--games", "from 1 to "),
    ],
)
def test_no_option_takes_a_number_out_of_its_range(
    mistake: Mistake,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    option: str,
    limits: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    for number in OUT:
        line = mistake(*words, number)
        assert option in line and limits in line and len(line) < 500
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["match", "random", "random", "--game", "tictactoe", "--games", 10**18], "--games"),
        (["eval", "connect4", "--simulations", "1000000000"], "from 0 to 100,000"),
        (["train", "tictactoe", "--actors", "1000000"], "run.actors is '1000000'"),
        (["train", "tictactoe", "--set", "net.width=20000"], "net.width is 20000"),
        (
            ["train", "tictactoe", "--set", "net.width=4096", "--set", "net.depth=1000"],
            "has 301,989,888,000 weights, expected at most",
        ),
        (["match", "connect4:1000000000", "random"], "the number of simulations in connect4:1"),
        (["match", f"minimax:{'9' * 5000}", "random", "--game", "tictactoe"], "from 1 to 100"),
        (["match", f"random~{'9' * 5000}", "random", "--game", "tictactoe"], "from 1 to 99"),
        (["match", f"stockfish:{'9' * 5000}", "random", "--game", "chess"], "from 1,350 to 2,850"),
        (["match", f"uci:x?movetime={'9' * 5000}", "random", "--game", "chess"], "from 1 to "),
        (["train", "tictactoe", "--devices", f"cuda:{'9' * 5000}"], "unknown device"),
    ],
)
def test_more_than_any_machine_has_is_refused_at_once(
    mistake: Mistake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[Any], found: str
) -> None:
    monkeypatch.chdir(tmp_path)
    line = mistake(*words)
    assert found in line and len(line) < 500
    assert not list(tmp_path.iterdir())
