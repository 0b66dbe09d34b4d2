"""Shards: what is written comes back, and what was damaged is noticed."""

from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy

from rookery.base import FileDamaged, RunFolderError, write_arrays
from rookery.games import load_game
from rookery.replay import Rows, concatenate, count, read_shard, shard_path, write_shard
from slow_replay import random_rows, same

CONNECT4, TICTACTOE = load_game("connect4"), load_game("tictactoe")


@pytest.fixture
def rows() -> Rows:
    return random_rows(CONNECT4, 10, iteration=3)


def test_the_name_is_the_number(tmp_path: Path) -> None:
    assert shard_path(tmp_path, 12).name == "000012.safetensors"


@pytest.mark.parametrize("name", ["connect4", "tictactoe", "chess"])
def test_a_shard_reads_back_as_it_was(tmp_path: Path, name: str) -> None:
    game, path = load_game(name), shard_path(tmp_path, 0)
    rows = random_rows(game, 5, iteration=3, max_plies=40)
    write_shard(path, rows, game=game)
    assert same(read_shard(path, game=game), rows)


def test_other_tools_can_open_a_shard(tmp_path: Path, rows: Rows) -> None:
    write_shard(shard_path(tmp_path, 0), rows, game=CONNECT4)
    columns = safetensors.numpy.load_file(shard_path(tmp_path, 0))
    assert set(columns) == set(Rows._fields)
    assert np.array_equal(columns["moves"], rows.moves)


def test_a_million_rows_take_under_80_megabytes_on_disk(tmp_path: Path, rows: Rows) -> None:
    many = concatenate([rows] * (20_000 // count(rows)))
    write_shard(shard_path(tmp_path, 0), many, game=CONNECT4)
    assert shard_path(tmp_path, 0).stat().st_size / count(many) < 80


@pytest.mark.parametrize("where", [0, 10, 100, 300, 1000, 5000, -10, -1])
def test_one_altered_byte_is_noticed(tmp_path: Path, rows: Rows, where: int) -> None:
    path = shard_path(tmp_path, 0)
    write_shard(path, rows, game=CONNECT4)
    content = bytearray(path.read_bytes())
    content[where] ^= 1
    path.write_bytes(content)
    with pytest.raises(FileDamaged):
        read_shard(path, game=CONNECT4)


@pytest.mark.parametrize("share", [0.0, 0.05, 0.5, 0.999])
def test_a_truncated_shard_is_noticed(tmp_path: Path, rows: Rows, share: float) -> None:
    path = shard_path(tmp_path, 0)
    write_shard(path, rows, game=CONNECT4)
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(FileDamaged):
        read_shard(path, game=CONNECT4)


def test_a_missing_shard_is_noticed(tmp_path: Path) -> None:
    with pytest.raises(FileDamaged, match="missing"):
        read_shard(shard_path(tmp_path, 5), game=CONNECT4)


def test_a_file_of_another_kind_is_not_a_shard(tmp_path: Path) -> None:
    write_arrays(tmp_path / "learner", {"net": np.zeros(3)})
    with pytest.raises(FileDamaged, match="not a shard"):
        read_shard(tmp_path / "learner", game=CONNECT4)


def test_a_file_of_another_tool_is_not_a_shard(tmp_path: Path) -> None:
    safetensors.numpy.save_file({"net": np.zeros(3)}, tmp_path / "foreign")
    with pytest.raises(FileDamaged, match="not a Rookery file"):
        read_shard(tmp_path / "foreign", game=CONNECT4)


def test_a_shard_of_another_game_is_refused(tmp_path: Path, rows: Rows) -> None:
    write_shard(shard_path(tmp_path, 0), rows, game=CONNECT4)
    with pytest.raises(RunFolderError, match="connect4 version 1, expected tictactoe"):
        read_shard(shard_path(tmp_path, 0), game=TICTACTOE)
