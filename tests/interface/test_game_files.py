"""Games written in PGN: of a match, and of a run's self-play."""

import io
import json
from pathlib import Path

import chess.pgn
import pytest

import toy
from command_line import Mistake, Rookery
from rookery.games import RESULTS, load_game
from rookery.replay import shard_path, write_shard
from rookery.search import SearchConfig
from rookery.selfplay import CpuSelfPlay, SelfPlayConfig
from rookery.training import RunFolder, recipe_for


def read_all(path: Path) -> list[chess.pgn.Game]:
    stream, found = io.StringIO(path.read_text()), list[chess.pgn.Game]()
    while (one := chess.pgn.read_game(stream)) is not None:
        assert not one.errors
        found.append(one)
    return found


@pytest.fixture(scope="module")
def chess_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of chess with two shards of short games, without networks."""
    game = load_game("chess")
    folder = RunFolder.create(tmp_path_factory.mktemp("runs") / "chess", recipe_for("chess"))
    config = SelfPlayConfig(games=4, simulations="2", temperature_plies=30, max_plies=12)
    evaluator = toy.hashed(game.num_actions)
    search = SearchConfig(considered=2)
    selfplay = CpuSelfPlay(game, evaluator, config=config, search=search, seed=1)
    for number in range(2):
        played = selfplay.play(24, progress=0.0, iteration=number)
        write_shard(shard_path(folder.path / "replay", number), played.rows, game=game)
    return folder.path


def test_the_games_of_a_match_are_written(rookery: Rookery, tmp_path: Path) -> None:
    path = tmp_path / "match.pgn"
    options = ("--game", "chess", "--games", "2", "--workers", "0", "--pgn", path)
    answer = rookery("match", "random", "random", *options)
    assert answer.code == 0, answer
    first, second = read_all(path)
    assert first.headers["Round"] == "1.1" and second.headers["Round"] == "1.2"
    for one in (first, second):
        board = one.end().board()
        assert board.is_game_over(claim_draw=True)
        assert one.headers["Result"] == board.result(claim_draw=True)
    assert str(first.end().board().move_stack[0]) == str(second.end().board().move_stack[0])


def test_the_newest_games_of_a_run_are_written(
    rookery: Rookery, chess_run: Path, tmp_path: Path
) -> None:
    path = tmp_path / "selfplay.pgn"
    answer = rookery("games", "export", chess_run, "--pgn", path, "--games", "5")
    assert answer.code == 0 and "5 games in" in answer.out
    found = read_all(path)
    assert len(found) == 5
    assert found[0].headers["Round"] == "1", "the newest shard comes first"
    for one in found:
        plies = one.end().board().ply()
        assert 5 < plies <= 12 and one.headers["Result"] in ("1-0", "0-1", "1/2-1/2")


def test_games_without_a_notation_are_refused(
    mistake: Mistake, finished_run: Path, tmp_path: Path
) -> None:
    path = tmp_path / "match.pgn"
    line = mistake("match", "random", "random", "--game", "connect4", "--pgn", path)
    assert "PGN is for chess, not for connect4" in line
    assert "PGN is for chess" in mistake("games", "export", finished_run, "--pgn", path)
    assert not path.exists()


def test_games_of_any_run_are_written_as_json(
    rookery: Rookery, mistake: Mistake, finished_run: Path, tmp_path: Path
) -> None:
    path, game = tmp_path / "selfplay.jsonl", load_game("tictactoe")
    answer = rookery("games", "export", finished_run, "--jsonl", path, "--games", 5)
    assert answer.code == 0 and f"5 games in {path}" in answer.out
    games = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(games) == 5
    for record in games:
        state = game.new_states(1)[0]
        for name, value in record.get("start", {}).items():
            state[name] = value
        assert ("start" in record) == (record["plies"] > 0)
        for move in record["moves"]:
            game.rules.play(state, game.read_move(state, move))
        outcome, plies = game.rules.outcome(state), record["plies"] + len(record["moves"])
        assert RESULTS[record["result"]] == (-outcome if plies % 2 else outcome)
    assert "give --jsonl FILE" in mistake("games", "export", finished_run)


def test_json_of_chess_has_positions_and_results_as_pgn(
    rookery: Rookery, chess_run: Path, tmp_path: Path
) -> None:
    pgn, jsonl = tmp_path / "selfplay.pgn", tmp_path / "selfplay.jsonl"
    answer = rookery("games", "export", chess_run, "--pgn", pgn, "--jsonl", jsonl)
    assert answer.code == 0 and f"games in {pgn} and {jsonl}" in answer.out
    lines = [json.loads(line) for line in jsonl.read_text().splitlines()]
    for one, line in zip(read_all(pgn), lines, strict=True):
        assert one.headers.get("FEN", "") == line.get("start", "")
        assert one.headers["Result"] == line["result"]
        assert [move.uci() for move in one.mainline_moves()] == line["moves"]


def test_a_run_without_games_is_a_mistake(mistake: Mistake, tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "new", recipe_for("chess"))
    line = mistake("games", "export", folder.path, "--pgn", tmp_path / "x.pgn")
    assert "has no games yet" in line


def test_players_of_two_encodings_do_not_meet(mistake: Mistake, tmp_path: Path) -> None:
    texts = []
    for name in ("chess", "chess:history=3"):
        folder = tmp_path / name.replace(":", "-")
        texts.append(RunFolder.create(folder, recipe_for(name)).path)
    line = mistake("match", *texts)
    assert "the players are of different games: chess and chess:history=3" in line


def test_recipes_of_a_game_serve_its_variants() -> None:
    config = recipe_for("chess:history=3")
    assert (config.game, config.recipe) == ("chess:history=3", "chess-laptop")
    assert recipe_for("chess:history=3", on_gpu=True).recipe == "chess-gpu"
