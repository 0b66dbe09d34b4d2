"""`rookery eval` and `rookery match`, and the players that texts name."""

import json
import shutil
from pathlib import Path

import pytest

from command_line import Mistake, Rookery
from disturbed import KilledAtFirstResult
from rookery.api import read_net, read_player_spec
from rookery.arena import (
    MinimaxPlayer,
    Percentage,
    RandomPlayer,
    SearchPlayer,
    SolverPlayer,
    Strength,
    StrengthRow,
)
from rookery.base import ConfigError, RookeryError
from rookery.games import load_game
from rookery.interface.formatting import screen
from rookery.interface.tables import error_table, not_best_table
from rookery.training import RunFolder
from rookery.training.evaluation import pool as evaluation_pool
from worker_processes import worker_processes


def test_eval_shows_every_ply_for_each_number_of_simulations(
    rookery: Rookery, finished_run: Path
) -> None:
    answer = rookery("eval", finished_run, "--simulations", "2,0")
    assert answer.code == 0
    assert answer.out.index("network alone") < answer.out.index("2 simulations")
    rows = {line.split("  ")[0].strip(): line.split() for line in answer.out.splitlines() if line}
    assert rows["ply 8"][-3:] == ["222", "0.0", "0.0"], "one move left cannot be an error"
    assert rows["total"][1] == "4,520"
    assert "lost to any reply" in answer.out


def test_eval_answers_in_json(rookery: Rookery, finished_run: Path) -> None:
    answer = json.loads(rookery("eval", finished_run, "--simulations", "0", "--json").out)
    assert answer["game"] == "tictactoe" and list(answer["strength"]) == ["0"]
    rows = {row["label"]: row for row in answer["strength"]["0"]["rows"]}
    assert rows["total"]["number"] == 4520
    assert answer["strength"]["0"]["errors"] == rows["total"]["errors"]["percent"]


def test_eval_can_measure_older_weights(
    rookery: Rookery, mistake: Mistake, finished_run: Path
) -> None:
    old = rookery("eval", finished_run, "--simulations", "0", "--json", "--iteration", 1)
    new = rookery("eval", finished_run, "--simulations", "0", "--json", "--iteration", 2)
    newest = rookery("eval", finished_run, "--simulations", "0", "--json")
    assert new.out == newest.out != old.out
    line = mistake("eval", finished_run, "--iteration", 77)
    assert "no weights of iteration 77; the nearest are 1, 2" in line


def test_eval_refuses_simulations_that_are_no_numbers(mistake: Mistake, finished_run: Path) -> None:
    assert "or several as in 0,32,100" in mistake("eval", finished_run, "--simulations", "1;2")


def shares(low: float, high: float) -> Strength:
    """A measurement of one group."""
    errors, not_best = Percentage(3, 1.5, low, high), Percentage(9, 4.5, low, high)
    return Strength(
        1.5, "moves that lose game value", (StrengthRow("begin-easy", 200, errors, not_best),)
    )


def test_sampled_groups_show_their_interval(capsys: pytest.CaptureFixture[str]) -> None:
    columns = [("network alone", shares(0.5, 4.3)), ("100 simulations", shares(0.25, 3.0))]
    screen().print(error_table(columns))
    slower = not_best_table(columns)
    assert slower is not None
    screen().print(slower)
    out = capsys.readouterr().out
    assert "in % (95 % interval)" in out
    assert "1.5 (0.5-4.3)" in out and "4.5 (0.5-4.3)" in out


def test_match_counts_results_by_colour(rookery: Rookery, finished_run: Path) -> None:
    answer = rookery("match", f"{finished_run}:8", "random", "--games", 10, "--opening-plies", 1)
    assert answer.code == 0
    rows = {line.split("  ")[0].strip(): line.split() for line in answer.out.splitlines() if line}
    assert rows["first"][1] == rows["second"][1] == "5"
    won, drawn, lost = map(int, rows["total"][2:5])
    assert won + drawn + lost == 10
    assert "95 % interval" in answer.out and "of 10 games are distinct" in answer.out


def test_match_answers_in_json_even_without_an_upper_bound(rookery: Rookery) -> None:
    arguments = ["solver", "random", "--game", "tictactoe", "--games", 4, "--json"]
    answer = json.loads(rookery("match", *arguments, "--opening-plies", 0).out)
    assert answer["total"]["losses"] == 0
    assert answer["total"]["wins"] + answer["total"]["draws"] == 4
    assert answer["first"]["wins"] + answer["first"]["draws"] == 2
    if answer["total"]["wins"] == 4:
        assert answer["difference"]["high"] is None


def test_the_same_seed_gives_the_same_match(rookery: Rookery, finished_run: Path) -> None:
    arguments = ["match", finished_run, "random", "--games", 6, "--json", "--seed"]
    assert rookery(*arguments, 5).out == rookery(*arguments, 5).out


@pytest.mark.parametrize(
    "command",
    [
        ["eval", "RUN", "--simulations", "0,2"],
        ["match", "minimax:1", "random", "--game", "tictactoe", "--games", "66"],
    ],
    ids=lambda words: words[0],
)
def test_more_workers_give_the_same_answer(
    rookery: Rookery, finished_run: Path, command: list[str]
) -> None:
    words = [str(finished_run) if word == "RUN" else word for word in [*command, "--json"]]
    alone, shared = rookery(*words), rookery(*words, "--workers", 2)
    assert alone.code == shared.code == 0
    assert alone.out == shared.out and not shared.err


def test_a_killed_worker_is_noted_and_the_answer_is_the_same(
    rookery: Rookery, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["match", "minimax:1", "random", "--game", "tictactoe", "--games", 66, "--json"]
    alone = rookery(*words)
    monkeypatch.setattr(evaluation_pool, "WorkerPool", KilledAtFirstResult)
    disturbed = rookery(*words, "--workers", 1)
    assert disturbed.err == (
        "note: evaluation worker 0 was killed by SIGKILL; restarting in 0.5 s\n"
    )
    assert (disturbed.code, disturbed.out) == (0, alone.out)
    assert not worker_processes()


def test_a_match_by_as_many_workers_as_there_are_cores(
    rookery: Rookery, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[int] = []

    def no_pool(workers: int, **options: object) -> None:
        started.append(workers)
        raise ConfigError("seen enough")

    monkeypatch.setattr(evaluation_pool, "EvaluationPool", no_pool)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: range(7))
    words = ["match", "random", "random", "--game", "tictactoe", "--devices", "cpu"]
    for number in ("auto", "3", "99"):
        assert rookery(*words, "--games", "400", "--workers", number).code == 2
    assert started == [7, 3, 13]  # of which there are as many as parts
    for few in (["--games", "60"], ["--games", "400", "--workers", "0"]):
        assert rookery(*words, *few).code == 0
    assert len(started) == 3


@pytest.mark.parametrize("number", ["many", "-1", "1.5", ""])
def test_workers_are_a_number_or_auto(mistake: Mistake, finished_run: Path, number: str) -> None:
    expected = f"--workers is {number!r}, expected a whole number from 0 to 1,024, or auto"
    assert expected in mistake("match", "random", finished_run, "--workers", number)
    assert expected in mistake("eval", finished_run, "--workers", number)


def test_two_random_players_do_not_copy_each_other(rookery: Rookery) -> None:
    arguments = ["random", "random", "--game", "tictactoe", "--games", 40, "--opening-plies", 0]
    assert json.loads(rookery("match", *arguments, "--json").out)["distinct_games"] > 20


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (["random", "random"], "name the game, as in --game connect4"),
        (["random", "solver", "--game", "conect4"], "did you mean connect4?"),
        (["random", "minimax:x", "--game", "connect4"], "a whole number from 1 to 100"),
        (
            ["random", "minimax:0", "--game", "connect4"],
            "the depth of minimax:0 is '0'",
        ),
        (["rondom", "solver", "--game", "connect4"], "did you mean random?"),
        (["random", "solver", "--game", "tictactoe", "--games", "3"], "even"),
        (["random", "solver", "--game", "tictactoe", "--opening-plies", "9"], "shorter"),
    ],
)
def test_a_match_that_cannot_be_is_a_mistake(
    mistake: Mistake, arguments: list[str], found: str
) -> None:
    assert found in mistake("match", *arguments)


def test_runs_of_another_game_cannot_meet(mistake: Mistake, finished_run: Path) -> None:
    line = mistake("match", finished_run, "random", "--game", "connect4")
    assert "connect4 and tictactoe" in line


def test_texts_name_players(finished_run: Path) -> None:
    rules = load_game("tictactoe")
    named = {
        "random": RandomPlayer,
        "solver": SolverPlayer,
        "minimax": MinimaxPlayer,
        "minimax:2": MinimaxPlayer,
        f"{finished_run}:8": SearchPlayer,
    }
    for text, kind in named.items():
        assert isinstance(read_player_spec(text, rules).player(rules, seed=1), kind)


def test_a_run_is_named_with_iteration_and_simulations(finished_run: Path, tmp_path: Path) -> None:
    texts = ("", ":400", "@1", "@1:0")
    found = [read_net(f"{finished_run}{text}") for text in texts]
    assert [net.simulations for net in found if net] == [100, 400, 100, 0]
    folder = RunFolder(finished_run)
    newest, first = folder.load_weights().fingerprint, folder.load_weights(1).fingerprint
    assert newest != first
    assert [net.load().fingerprint for net in found if net] == [newest, newest, first, first]
    odd = shutil.copytree(finished_run, tmp_path / "best@1:2")
    net = read_net(str(odd))
    assert net is not None and net.name == odd.name and net.load().fingerprint == newest


def test_a_net_comes_with_connect_four(rookery: Rookery) -> None:
    answer = rookery("eval", "connect4", "--simulations", "0", "--json")
    strength = json.loads(answer.out)["strength"]["0"]
    assert strength["errors"] < 6.0  # 4.6 when it was trained: docs/connect4.md
    net = read_net("connect4:7")
    assert net is not None and net.simulations == 7 and net.game.name == "connect4"
    answer = rookery("eval", "tictactoe")
    assert answer.code == 2 and "unknown run folder" in answer.err


def test_a_run_plays_only_its_own_game(finished_run: Path) -> None:
    with pytest.raises(ConfigError, match="plays tictactoe, not connect4"):
        read_player_spec(str(finished_run), load_game("connect4"))


def test_a_misspelt_run_folder_gets_the_nearest_name(finished_run: Path) -> None:
    with pytest.raises(RookeryError, match=f"did you mean {finished_run}"):
        read_net(f"{finished_run}y")


def test_a_single_error_among_thousands_does_not_look_like_none() -> None:
    from rookery.interface.formatting import percent

    assert percent(0.022) == "<0.1 %"
    assert percent(0.0) == "0.0 %"
    assert percent(7.25) == "7.2 %"


def test_several_devices_give_the_same_answer(rookery: Rookery, finished_run: Path) -> None:
    words = ["match", f"{finished_run}:2", "minimax:1", "--games", "64", "--json"]
    alone = rookery(*words, "--devices", "cpu", "--workers", 0)
    shared = rookery(*words, "--devices", "cpu,cpu")
    assert (shared.code, shared.err) == (0, "") and shared.out == alone.out


def test_every_device_needs_a_worker(mistake: Mistake, finished_run: Path) -> None:
    expected = "--workers is 1, expected at least one for each of 2 devices"
    words = ["--devices", "cpu,cpu", "--workers", 1]
    assert expected in mistake("eval", finished_run, *words)
    assert expected in mistake("match", finished_run, "random", *words)
    assert "unknown device ''" in mistake("eval", finished_run, "--devices", "cpu,")
