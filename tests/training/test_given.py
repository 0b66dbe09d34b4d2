"""Runs that also learn from games that they were given."""

import json
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rookery.base import ConfigError, FileDamaged
from rookery.games import GameRecord, load_game
from rookery.replay import GIVEN, count, read_shard
from rookery.training import Config, Progress, RunFolder, Stats, Stopped, apply, train
from rookery.training.store import given
from rookery.training.store.given import GivenGames, write_given, write_record

PGN = """[Event "one"]
[Result "1-0"]

1. e4 e5 2. Bc4 {quick} Nc6 (2... Nf6) 3. Qh5 Nf6 4. Qxf7# 1-0

[Event "unfinished"]

1. e4 *

[Event "illegal"]
[Result "0-1"]

1. e4 Ke4 0-1

[Event "from a position, black to move"]
[FEN "6k1/5ppp/8/8/8/8/5PPP/r5K1 w - - 0 1"]
[Result "0-1"]

0-1

[Event "black wins"]
[SetUp "1"]
[FEN "6k1/5ppp/8/8/8/8/r4PPP/6K1 b - - 0 1"]
[Result "0-1"]

1... Ra1# 0-1

[Event "claims a win after mate"]
[Result "0-1"]

1. f3 e5 2. g4 Qh4# 1-0
"""


def ignore(progress: Progress) -> None:
    """Let the run go on."""


def games_file(path: Path, number: int) -> Path:
    """Write games of Tic-Tac-Toe in which the first player fills a row, column or diagonal."""
    game = load_game("tictactoe")
    lines = [(0, 3, 1, 4, 2), (0, 1, 3, 2, 6), (0, 1, 4, 2, 8)]
    records = (GameRecord(lines[i % 3], 1) for i in range(number))
    path.write_text("".join(write_record(record, game) for record in records))
    return path


@pytest.fixture
def in_small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(given, "SHARD_ROWS", 50)


def test_games_in_pgn_become_shards_and_the_others_are_counted(tmp_path: Path) -> None:
    (tmp_path / "games.pgn").write_text(PGN)
    chess = load_game("chess")
    found = write_given(tmp_path, [tmp_path / "games.pgn"], game=chess)
    assert (found.games, found.positions, found.shards) == (2, 8, 1)
    assert found.skipped == {
        "unfinished": 1,
        "unreadable": 1,
        "no moves": 1,
        "another result than by the rules": 1,
    }
    assert found.note.startswith("read 2 games, 8 positions, from ")
    assert "; skipped 4: 1 unfinished, 1 unreadable, " in found.note
    assert found.note.endswith("(the first is game 2: unfinished)")
    rows = read_shard(tmp_path / "given" / "000000.safetensors", game=chess)
    assert (rows.iterations == GIVEN).all()
    assert rows.results.tolist() == [1, -1, 1, -1, 1, -1, 1, 1]


def test_large_files_are_read_in_pieces(tmp_path: Path, in_small_shards: None) -> None:
    game = load_game("tictactoe")
    found = write_given(tmp_path, [games_file(tmp_path / "a.jsonl", 101)], game=game)
    assert (found.games, found.positions, found.shards) == (101, 505, 11)
    sizes = [count(read_shard(path, game=game)) for path in sorted((tmp_path / "given").iterdir())]
    assert sizes == [50] * 10 + [5]


@pytest.mark.parametrize(
    "line",
    [
        "[]",
        "{}",
        '{"moves": "012", "result": "1-0"}',
        '{"moves": [0, 1], "result": "1-0"}',
        '{"moves": ["x"], "result": "1-0"}',
        '{"moves": ["a1"], "result": 1}',
        '{"moves": ["a1"], "result": ["1-0"]}',
        '{"start": {"mover": 1}, "moves": ["5", "1"], "result": "1-0"}',
        "[" * 10_000,
        "9" * 10_000,
        "\xff\x00",
        '{"moves": [' + '"a1",' * 50_000 + '"a1"], "result": "1-0"}',
    ],
)
def test_hostile_records_are_skipped(tmp_path: Path, line: str) -> None:
    path = games_file(tmp_path / "games.jsonl", 1)
    path.write_text(f"{line}\n\n{path.read_text()}", encoding="latin-1")
    found = write_given(tmp_path, [path], game=load_game("tictactoe"))
    assert found.games == 1 and sum(found.skipped.values()) >= 1


@pytest.mark.parametrize(
    ("name", "content", "found"),
    [
        ("lost.pgn", None, "lost.pgn does not exist"),
        ("games.pgn", "", "read 0 games, 0 positions"),
        ("games.pgn", "(" * 1000, "1 unreadable"),
        ("games.pgn", "{" * 300_000, "1 longer than 200,000 bytes"),
        ("games.pgn", '[Event "x"]\n' * 3, "3 no moves"),
    ],
)
def test_a_file_without_a_usable_game_starts_no_run(
    tmp_path: Path, tiny_config: Config, name: str, content: str | None, found: str
) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    config = apply(tiny_config, ["selfplay.max_plies=50"])
    chess = Config(**{**vars(config), "game": "chess"})
    with pytest.raises(ConfigError, match=found):
        RunFolder.create(tmp_path / "run", chess, games=[tmp_path / name])
    assert not (tmp_path / "run").exists()


def test_pgn_is_not_for_every_game(tmp_path: Path, tiny_config: Config) -> None:
    (tmp_path / "games.pgn").write_text(PGN)
    with pytest.raises(ConfigError, match=r"games of tictactoe are read from \.jsonl files"):
        RunFolder.create(tmp_path / "run", tiny_config, games=[tmp_path / "games.pgn"])


@pytest.fixture
def run(tmp_path: Path, tiny_config: Config, in_small_shards: None) -> RunFolder:
    """A run with 500 given positions."""
    games = [games_file(tmp_path / "games.jsonl", 100)]
    return RunFolder.create(tmp_path / "run", tiny_config, games=games)


def iterations(folder: RunFolder) -> list[dict[str, Any]]:
    return [line for line in Stats(folder.path).lines() if line["kind"] == "iteration"]


def test_given_games_are_half_of_the_window_until_they_are_used_up(run: RunFolder) -> None:
    train(run, ignore)
    lines = iterations(run)
    made = [line["window"]["rows_made"] for line in lines]
    taken = [line["given_rows"] for line in lines]
    for rows, given_so_far in zip(made, taken, strict=True):
        assert given_so_far == 500 or 0 <= given_so_far - rows / 2 <= 50
    assert taken[0] > 0 and taken[-1] > taken[0]
    in_window = [line["window"]["given_rows"] for line in lines]
    assert 0 < in_window[-1] < taken[-1]  # they age like all rows
    notes = [line["note"] for line in Stats(run.path).lines() if line["kind"] == "note"]
    assert notes[0].startswith("read 100 games, 500 positions, from ")
    (started,) = (line for line in Stats(run.path).lines() if line["kind"] == "started")
    assert started["given"]["positions"] == 500


def test_the_share_is_a_setting(run: RunFolder) -> None:
    run.change(apply(run.config, ["replay.given_share=0.01"]))
    train(run, ignore)
    assert {line["given_rows"] for line in iterations(run)} == {50}


def test_a_stopped_run_goes_on_bit_for_bit(
    run: RunFolder, tmp_path: Path, tiny_config: Config, trace: Callable[[Path], Any]
) -> None:
    games = [tmp_path / "games.jsonl"]
    whole = RunFolder.create(tmp_path / "whole", tiny_config, games=games)
    train(whole, ignore)

    def stop(progress: Progress) -> None:
        if progress.iteration == 3:
            raise Stopped

    train(run, stop)
    train(RunFolder(run.path), ignore)
    expected, found = trace(whole.path), trace(run.path)
    for field in fields(expected):
        assert getattr(found, field.name) == getattr(expected, field.name), field.name


def test_a_run_continued_from_a_checkpoint_takes_the_rest(run: RunFolder, tmp_path: Path) -> None:
    run.change(apply(run.config, ["run.keep_checkpoints=5"]))
    train(run, ignore)
    again = run.continue_in(tmp_path / "again", run.config, at="2")
    train(again, ignore)
    assert [line["given_rows"] for line in iterations(again)] == [
        line["given_rows"] for line in iterations(run)
    ]


def test_old_checkpoints_and_damaged_records(run: RunFolder) -> None:
    path = run.path / "run.json"
    content = json.loads(path.read_text())
    assert RunFolder(run.path).given == GivenGames(
        (content["given"]["files"][0],), games=100, positions=500, shards=10
    )
    for shards in (-1, "many", None):
        content["given"]["shards"] = shards
        path.write_text(json.dumps(content))
        with pytest.raises(FileDamaged):
            RunFolder(run.path)


def test_records_are_read_as_they_were_written(tmp_path: Path) -> None:
    game = load_game("connect4")
    line = write_record(GameRecord((3, 3, 4, 4, 5, 5, 6), 1), game)
    (tmp_path / "games.jsonl").write_text(line)
    found = write_given(tmp_path, [tmp_path / "games.jsonl"], game=game)
    rows = read_shard(tmp_path / "given" / "000000.safetensors", game=game)
    assert found.games == 1 and np.array_equal(rows.moves, [3, 3, 4, 4, 5, 5, 6])
