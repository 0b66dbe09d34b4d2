"""Shards: what is written comes back, and what was damaged is noticed."""

import numpy as np
import pytest

from rookery.base import FileDamaged, RunFolderError, write_arrays
from rookery.games import load_game
from rookery.replay import Samples, read_shard, shard_path, write_shard

CONNECT4, TICTACTOE = load_game("connect4"), load_game("tictactoe")


@pytest.fixture
def samples(make_records) -> Samples:
    return Samples.from_records(make_records(CONNECT4, 10), 3)


def test_the_name_is_the_number(tmp_path):
    assert shard_path(tmp_path, 12).name == "000012.shard"


@pytest.mark.parametrize("name", ["connect4", "tictactoe"])
def test_a_shard_reads_back_as_it_was(tmp_path, make_records, name):
    samples = Samples.from_records(make_records(load_game(name), 10), 3)
    path = shard_path(tmp_path, 0)
    write_shard(path, samples, game=load_game(name))
    found = read_shard(path, game=load_game(name))
    for column in vars(samples):
        assert np.array_equal(getattr(found, column), getattr(samples, column)), column
        assert getattr(found, column).dtype == getattr(samples, column).dtype, column


def test_a_million_rows_take_under_80_megabytes_on_disk(tmp_path, samples):
    many = Samples.concatenate([samples] * (20_000 // len(samples)))
    write_shard(shard_path(tmp_path, 0), many, game=CONNECT4)
    assert shard_path(tmp_path, 0).stat().st_size / len(many) * 1_000_000 < 80e6


@pytest.mark.parametrize("where", [10, 1000, -10])
def test_one_altered_byte_is_noticed(tmp_path, samples, where):
    path = shard_path(tmp_path, 0)
    write_shard(path, samples, game=CONNECT4)
    content = bytearray(path.read_bytes())
    content[where] ^= 1
    path.write_bytes(content)
    with pytest.raises(FileDamaged):
        read_shard(path, game=CONNECT4)


@pytest.mark.parametrize("share", [0.0, 0.5, 0.999])
def test_a_cut_file_is_noticed(tmp_path, samples, share):
    path = shard_path(tmp_path, 0)
    write_shard(path, samples, game=CONNECT4)
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(FileDamaged):
        read_shard(path, game=CONNECT4)


def test_a_missing_shard_is_noticed(tmp_path):
    with pytest.raises(FileDamaged, match="missing"):
        read_shard(shard_path(tmp_path, 5), game=CONNECT4)


def test_another_file_of_ours_is_no_shard(tmp_path):
    write_arrays(tmp_path / "learner", {"net": np.zeros(3)})
    with pytest.raises(FileDamaged, match="no shard"):
        read_shard(tmp_path / "learner", game=CONNECT4)


def test_a_shard_of_another_game_is_refused(tmp_path, samples):
    write_shard(shard_path(tmp_path, 0), samples, game=CONNECT4)
    with pytest.raises(RunFolderError, match="connect4 version 1, expected tictactoe"):
        read_shard(shard_path(tmp_path, 0), game=TICTACTOE)
