"""`rookery rate`: a tiny net of chess against rungs that need no engine."""

import errno
import json
import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from command_line import Mistake, Rookery
from own_rules import marked_rules
from rookery.games import load_game
from rookery.nets import NetConfig, build_net
from rookery.training import RunFolder, recipe_for

RUNGS = "random,minimax:1"
FEW = ("--games", 8, "--rungs", RUNGS, "--devices", "cpu")


@pytest.fixture(scope="module")
def chess_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of chess with nets of two iterations that never learned."""
    chess, path = load_game("chess"), tmp_path_factory.mktemp("runs") / "fresh"
    config = replace(recipe_for("chess", None), net=NetConfig(width=8, depth=1, value_width=8))
    config = replace(config, run=replace(config.run, inference="float32"))
    folder = RunFolder.create(path, config)
    for iteration in (1, 2):
        net = build_net(
            config.net,
            chess.planes_shape,
            chess.num_actions,
            policy_cells=chess.policy_cells,
            seed=iteration,
        )
        folder.save_weights(net, iteration=iteration, step=0)
    return path


def test_a_net_is_rated_and_every_game_is_written(
    rookery: Rookery, chess_run: Path, tmp_path: Path
) -> None:
    games, pgn = tmp_path / "games.jsonl", tmp_path / "games.pgn"
    answer = rookery("rate", f"{chess_run}@1:0", *FEW, "--games-file", games, "--pgn", pgn)
    assert answer.code == 0 and "95 % interval" in answer.out
    assert "random" in answer.out and "stockfish" in answer.out
    lines = [json.loads(line) for line in games.read_text().splitlines()]
    assert len(lines) == 8 and {line[0] for line in lines} == set(RUNGS.split(","))
    chess = load_game("chess")
    for _, opening, moves, _, result, fault in lines:
        assert fault == "" and result in (-1, 0, 1)
        chess.replay(opening + moves)
    found = chess.read_games(pgn.read_text())
    assert [list(record.actions) for record in found] == [line[1] + line[2] for line in lines]
    for record, (rung, _, _, is_first, result, _) in zip(found, lines, strict=True):
        names = record.headers["White"], record.headers["Black"]
        assert names.index(rung) == is_first and record.result == (result if is_first else -result)


def test_files_that_are_there_are_kept(mistake: Mistake, tmp_path: Path) -> None:
    pgn = tmp_path / "games.pgn"
    pgn.write_text("mine")
    for command in (["rate", "random"], ["match", "random", "random", "--game", "chess"]):
        assert "exists already and is not overwritten" in mistake(*command, "--pgn", pgn)
    assert "exists already and is not overwritten" in mistake(
        "games", "export", tmp_path, "--pgn", pgn
    )
    assert "there is no folder" in mistake("rate", "random", "--pgn", tmp_path / "no" / "x.pgn")
    assert pgn.read_text() == "mine"


def test_two_files_of_one_name_are_refused(mistake: Mistake, tmp_path: Path) -> None:
    here, there = tmp_path / "games", tmp_path / "more" / ".." / "games"
    (tmp_path / "more").mkdir()
    for other in (here, there):
        told = mistake("rate", "random", "--pgn", here, "--games-file", other)
        assert "is given for two files" in told


def test_the_rating_is_told_even_if_its_games_cannot_be_written(
    rookery: Rookery, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("rookery.interface.game_files.write_games", full)
    few = ("--games", 2, "--pgn", tmp_path / "games.pgn", "--json")
    answer = rookery("rate", "random", "--rungs", "random", *few)
    assert answer.code == 2 and json.loads(answer.out)["games"] == 2
    assert "no room left" in answer.err
    answer = rookery("match", "random", "random", "--game", "chess", *few)
    assert answer.code == 2 and json.loads(answer.out)["total"]["wins"] in range(3)


def test_json_has_the_rating_the_interval_and_every_rung(rookery: Rookery, chess_run: Path) -> None:
    answer = rookery("rate", chess_run, *FEW, "--simulations", 2, "--json")
    found = json.loads(answer.out)
    assert found["simulations"] == 2 and found["ladder"] == "stockfish"
    assert found["games"] == sum(
        rung["wins"] + rung["draws"] + rung["losses"] for rung in found["rungs"]
    )
    assert found["games"] == 8 and found["distinct_games"] == 8 and found["forfeited"] == 0
    assert found["low"] is None or found["low"] <= found["elo"]


def test_ctrl_c_ends_with_what_was_played(
    rookery: Rookery, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "rookery.interface.formatting.rating", lambda _: os.kill(os.getpid(), signal.SIGINT)
    )
    games = tmp_path / "games.jsonl"
    arguments = ("random", "--rungs", RUNGS, "--games", 400, "--at-once", 8)
    answer = rookery("rate", *arguments, "--json", "--games-file", games)
    found = json.loads(answer.out)
    assert answer.code == 0 and found["was_interrupted"] and 0 < found["games"] < 400
    assert f"stopped after {found['games']} of 400 games" in answer.err
    assert len(games.read_text().splitlines()) == found["games"]


def test_players_without_a_net_are_rated_too(rookery: Rookery) -> None:
    answer = rookery("rate", "minimax:1", "--games", 4, "--rungs", "random", "--json")
    assert json.loads(answer.out)["player"] == "minimax:1"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["random", "--games", "7"], "even"),
        (["random", "--ladder", "stokfish"], "did you mean stockfish"),
        (["random", "--rungs", "minimax:9"], "did you mean minimax"),
        (["nowhere"], "nowhere"),
        (["uci:no-such-engine", "--rungs", "random"], "no engine 'no-such-engine'"),
        (["uci:it's", "--rungs", "random"], "engines are named as in uci:COMMAND"),
        (["uci: ", "--rungs", "random"], "engines are named as in uci:COMMAND"),
    ],
)
def test_mistakes_are_one_line(mistake: Mistake, arguments: list[str], told: str) -> None:
    assert told in mistake("rate", *arguments)


def test_a_missing_engine_names_its_package(
    mistake: Mistake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rookery.arena.players.engine_spec.FOLDERS", "")
    monkeypatch.setenv("PATH", "")
    assert "apt install" in mistake("rate", "random")


def test_a_run_of_another_game_cannot_climb(mistake: Mistake, finished_run: Path) -> None:
    told = mistake("rate", finished_run, "--ladder", "stockfish")
    assert "the ladder stockfish is for chess, not tictactoe" in told
    assert "plays tictactoe, not chess" in mistake("rate", finished_run, "--game", "chess")


def test_a_run_is_rated_on_the_ladder_of_its_game(rookery: Rookery, finished_run: Path) -> None:
    answer = rookery("rate", finished_run, "--games", 20, "--simulations", 2, "--json")
    found = json.loads(answer.out)
    assert answer.code == 0 and found["ladder"] == "tictactoe" and found["games"] == 20
    assert {row["rung"]["player"] for row in found["rungs"]} >= {"random", "minimax:1", "solver"}


def test_a_player_without_a_network_names_its_game(rookery: Rookery) -> None:
    few = ("--games", 12, "--game", "tictactoe", "--rungs", "random,minimax:1", "--json")
    assert json.loads(rookery("rate", "solver~50", *few).out)["ladder"] == "tictactoe"


def test_workers_rate_a_player(rookery: Rookery) -> None:
    few = ("rate", "minimax:2", "--game", "tictactoe", "--games", 24, "--json", "--workers")
    answers = [rookery(*few, number) for number in (1, 2)]
    assert [answer.code for answer in answers] == [0, 0] and not answers[1].err
    assert answers[0].out == answers[1].out and json.loads(answers[0].out)["games"] == 24


def test_the_opponents_of_a_game_of_your_own_are_rated_first(
    rookery: Rookery, tmp_path: Path
) -> None:
    path, _ = marked_rules(tmp_path)
    few = ("--games", 8, "--rungs", "random,minimax:1", "--json")
    answer = rookery("rate", "minimax:2", "--game", path, *few)
    found = json.loads(answer.out)
    assert answer.code == 0 and found["ladder"] == "mine"
    assert "mine has no ladder; rating random, minimax:1 first" in answer.err
    assert [row["rung"]["games"] for row in found["rungs"]] == [40, 40]


@pytest.mark.parametrize(
    ("rungs", "told"),
    [
        ("random", "at least two different players, got random"),
        ("random,random", "at least two different players"),
        ("random,", "unknown player ''"),
        ("random,solver", "there is no solver for mine"),
    ],
)
def test_opponents_that_make_no_ladder_are_a_mistake(
    mistake: Mistake, tmp_path: Path, rungs: str, told: str
) -> None:
    path, _ = marked_rules(tmp_path)
    assert told in mistake("rate", "random", "--game", path, "--rungs", rungs)


def test_the_history_of_a_run_is_a_table_that_is_cheap_to_repeat(
    rookery: Rookery, chess_run: Path
) -> None:
    few = ("rate", chess_run, "--history", "--games", 8, "--simulations", 0, "--devices", "cpu")
    found = json.loads(rookery(*few, "--json").out)
    assert [row["iteration"] for row in found["history"]] == [1, 2]
    assert all(row["low"] < row["elo"] < row["high"] for row in found["history"])
    assert all(row["games"] >= 8 for row in found["history"])
    assert found["anchors"] == {"random": -256, "minimax:1": -65, "minimax:2": 36}
    kept = (chess_run / "elo.jsonl").read_text()
    answer = rookery(*few)
    assert answer.code == 0 and (chess_run / "elo.jsonl").read_text() == kept
    for heading in ("iteration", "Elo", "95 % interval", "games", "random -256"):
        assert heading in answer.out


def test_only_a_run_has_a_history(mistake: Mistake, tmp_path: Path) -> None:
    assert "is not a run folder" in mistake("rate", tmp_path / "nowhere", "--history")
    empty = RunFolder.create(tmp_path / "run", recipe_for("tictactoe"))
    assert "has no weights yet" in mistake("rate", empty.path, "--history")


def test_matches_of_chess_begin_from_the_book(rookery: Rookery) -> None:
    answer = rookery("match", "random", "minimax:1", "--game", "chess", "--games", 4)
    assert answer.code == 0 and "openings of the book" in answer.out
