"""`rookery plan` and `rookery train --plan`, on this machine."""

import json
from pathlib import Path

import pytest

from command_line import Mistake, Rookery
from rookery.training import read_config
from rookery.training.planning import plan as planning


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "SIZES", ((8, 1), (12, 1)))
    monkeypatch.setattr(planning, "PLAY_SECONDS", 0.02)
    monkeypatch.setattr(planning, "LEARN_SECONDS", 0.02)
    monkeypatch.setattr(planning, "MEASURING_SECONDS", (2.0, 2.0))


def test_a_plan_names_settings_and_reasons(rookery: Rookery) -> None:
    shown = rookery("plan", "tictactoe", "--minutes", "0.5", "--devices", "cpu")
    assert shown.code == 0 and "net.width" in shown.out and "simulations/s" in shown.out
    assert "train tictactoe --plan --minutes 0.5" in shown.out
    found = json.loads(rookery("plan", "tictactoe", "--minutes", "0.5", "--json").out)
    names = {choice["name"] for choice in found["choices"]}
    assert {"net.width", "selfplay.games", "replay.window_max", "learning.reuse"} <= names
    assert "selfplay.simulations" in names
    assert found["minutes"] == 0.5 and found["machine"]["cores"] >= 1
    assert all(trial["simulations_per_second"] > 0 for trial in found["trials"])


def test_a_run_uses_its_plan_and_other_settings_win(rookery: Rookery, tmp_path: Path) -> None:
    settings = ("--set", "learning.batch_size=32", "--set", "run.strength_every=0")
    length = ("--minutes", "0.05", "--iterations", "1")
    path = tmp_path / "run"
    done = rookery(
        "train", "tictactoe", "--run", path, "--plan", *length, *settings, "--devices", "cpu"
    )
    assert done.code == 0, done.err
    config = read_config(path)
    assert config.learning.batch_size == 32
    assert f"selfplay.games {config.selfplay.games} " in " ".join(done.out.split())


@pytest.mark.parametrize("minutes", ["0", "-1", "nan"])
def test_a_plan_needs_a_length(mistake: Mistake, minutes: str) -> None:
    assert "minutes" in mistake("plan", "tictactoe", "--minutes", minutes)


def test_an_unknown_game(mistake: Mistake) -> None:
    assert "hexpawn" in mistake("plan", "hexpawn", "--minutes", "1")
