"""Shards: what is written comes back, and what was damaged is noticed."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy

from crafted import NESTED, Change, at_most_allocated, recraft, signed
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


def column(name: str, entry: object) -> Change:
    """Return a change of the first entry of a column."""
    return lambda arrays, header: arrays[name].__setitem__(0, entry)


def columns(**changes: Any) -> Change:
    """Return a change of whole columns."""
    return lambda arrays, header: arrays.update(changes)


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda arrays, header: arrays.pop("moves"), "the columns of rows"),
        (columns(more=np.zeros(3)), "the columns of rows"),
        (columns(moves=np.zeros(3, np.int16)), "moves is int16 [3], expected int16 ["),
        (columns(moves=np.zeros(0, np.float64)), "moves is float64 [0], expected int16 ["),
        (columns(legal=np.zeros((2, 2), np.int16)), "legal is int16 [2, 2], expected int16 ["),
        (columns(states=np.zeros(16, np.uint8)), "states is uint8 [16], expected uint8 ["),
        (columns(num_legal=np.array(3, np.int16)), "num_legal is int16 [], expected int16 [1]"),
        (columns(num_legal=np.zeros(3)), "num_legal is float64 [3], expected int16 [3]"),
        (column("num_legal", 32_767), "num_legal has numbers that are not in 1..7"),
        (column("num_legal", -1), "num_legal has numbers that are not in 1..7"),
        (column("num_legal", 1), "legal is int16"),
        (column("moves", 7), "moves has numbers that are not in 0..6"),
        (column("legal", -1), "legal has numbers that are not in 0..6"),
        (column("policy", -1), "policy has numbers"),
        (column("values", np.nan), "values has numbers"),
        (column("draws", np.inf), "draws has numbers"),
        (column("results", 2), "results has numbers"),
        (column("plies", -1), "plies has numbers"),
        (column("iterations", -2), "iterations has numbers that are not in -1"),
        (lambda arrays, header: header.update(kind="weights"), "not a shard"),
    ],
)
def test_wrong_content_with_a_valid_checksum_is_refused(
    tmp_path: Path, rows: Rows, change: Change, found: str
) -> None:
    path = shard_path(tmp_path, 0)
    write_shard(path, rows, game=CONNECT4)
    recraft(path, change)
    with pytest.raises(FileDamaged) as caught:
        read_shard(path, game=CONNECT4)
    assert str(path) in str(caught.value) and found in str(caught.value)


def test_padding_takes_no_more_memory_than_the_game_needs(tmp_path: Path, rows: Rows) -> None:
    path = shard_path(tmp_path, 0)
    write_shard(path, concatenate([rows] * 50), game=CONNECT4)
    recraft(path, column("num_legal", 32_767))
    limit = 4 * path.stat().st_size + 2_000_000
    with pytest.raises(FileDamaged, match="num_legal"), at_most_allocated(limit):
        read_shard(path, game=CONNECT4)


@pytest.mark.parametrize("header", ["[]", "5", NESTED])
def test_a_header_of_another_form_is_refused(tmp_path: Path, header: str) -> None:
    path = shard_path(tmp_path, 0)
    path.write_bytes(signed({"a": np.zeros(3)}, header))
    with pytest.raises(FileDamaged, match="not a Rookery file"):
        read_shard(path, game=CONNECT4)


def test_a_shard_of_another_game_is_refused(tmp_path: Path, rows: Rows) -> None:
    write_shard(shard_path(tmp_path, 0), rows, game=CONNECT4)
    with pytest.raises(RunFolderError, match="connect4 version 1, expected tictactoe"):
        read_shard(shard_path(tmp_path, 0), game=TICTACTOE)
