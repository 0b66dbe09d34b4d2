"""Nets that are averaged, by text: A+B wherever a text names a net."""

import json
import shutil
from pathlib import Path

import pytest

from command_line import Mistake, Rookery
from rookery.api import read_net, read_player_spec, split_members
from rookery.games import load_game
from rookery.training import RunFolder


@pytest.fixture
def both(finished_run: Path) -> str:
    """The nets of two iterations as one."""
    return f"{finished_run}@1+{finished_run}@2"


def test_a_text_names_several_nets_with_the_search_of_the_first(
    finished_run: Path, both: str
) -> None:
    net = read_net(f"{both}:7")
    assert net is not None and len(net.partners) == 1
    assert net.name == "tiny+tiny" and net.simulations == 7
    folder = RunFolder(finished_run)
    assert net.search == folder.config.search
    loaded = [each.load().fingerprint for each in (net, *net.partners)]
    assert loaded == [folder.load_weights(number).fingerprint for number in (1, 2)]


def test_the_average_of_a_net_with_itself_plays_as_the_net(finished_run: Path) -> None:
    rules = load_game("tictactoe")
    one, two = (
        read_player_spec(text, rules).player(rules, seed=1)
        for text in (f"{finished_run}:0", f"{finished_run}+{finished_run}:0")
    )
    states = rules.new_states(1)
    assert one.choose(states).tolist() == two.choose(states).tolist()


def test_averaged_nets_meet_others_over_any_number_of_workers(
    rookery: Rookery, finished_run: Path, both: str
) -> None:
    words = ["match", f"{both}:2", f"{finished_run}:2", "--games", 66, "--json"]
    alone, shared = rookery(*words, "--workers", 0), rookery(*words, "--workers", 2)
    assert alone.code == shared.code == 0 and alone.out == shared.out
    assert json.loads(alone.out)["a"] == f"{both}:2"


def test_averaged_nets_are_measured_asked_and_played(rookery: Rookery, both: str) -> None:
    measured = rookery("eval", both, "--simulations", "0", "--json")
    assert measured.code == 0 and json.loads(measured.out)["strength"]["0"]["errors"] > 0
    asked = rookery("analyse", both, "--simulations", 2, typed="19\n")
    assert asked.code == 0 and "move" in json.loads(asked.out)
    played = rookery("play", both, "--simulations", 2, typed="1\nquit\n")
    assert played.code == 0 and "tiny+tiny plays" in played.out


def test_an_average_differs_from_its_nets(rookery: Rookery, finished_run: Path, both: str) -> None:
    values = []
    for text in (both, f"{finished_run}@1", f"{finished_run}@2"):
        answer = rookery("analyse", text, "--simulations", 1, typed="1\n")
        values.append(json.loads(answer.out)["value"])
    assert len(set(values)) == 3


def test_a_plus_inside_a_folders_name_parts_nothing(finished_run: Path, tmp_path: Path) -> None:
    odd = shutil.copytree(finished_run, tmp_path / "c++")
    assert split_members(f"{odd}:5") == [f"{odd}:5"]
    assert split_members(f"{odd}@1+{odd}:5") == [f"{odd}@1", f"{odd}:5"]
    assert split_members("connect4+connect4") == ["connect4", "connect4"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("RUN+random", "random has no network"),
        ("RUN+connect4", "cannot average networks of different games: connect4, tictactoe"),
        ("RUN:8+RUN", "put simulations last"),
        ("RUN+RUNX", "unknown run folder"),
        ("RUN+", "unknown run folder"),
    ],
)
def test_nets_that_do_not_go_together_are_a_mistake(
    mistake: Mistake, finished_run: Path, text: str, found: str
) -> None:
    assert found in mistake("match", text.replace("RUN", str(finished_run)), "random")
