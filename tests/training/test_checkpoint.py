"""The checkpoint file: what goes in comes out, and damage is noticed."""

from pathlib import Path

import numpy as np
import pytest

from rookery.base import FileDamaged, RunFolderError, write_arrays
from rookery.training.store.checkpoint import Checkpoint, RunPosition, copied

POSITION = RunPosition(
    iteration=12,
    seconds=3.25,
    rows_made=700,
    shards=(3, 4, 5),
    inference="float32",
    precision="bfloat16",
)
LEARNER = {
    "net.weight": np.array([[1.5, np.nan], [-0.0, np.inf]], np.float32),
    "updates": np.array([2**40], np.int64),
}
SELFPLAY = {
    "streams": np.array([1, 2**64 - 1], np.uint64),
    "actions": np.arange(6, dtype=np.int16).reshape(2, 3),
}


def test_there_is_none_before_the_first(tmp_path: Path) -> None:
    assert Checkpoint.load(tmp_path) is None


def test_what_was_saved_comes_back_bit_for_bit(tmp_path: Path) -> None:
    Checkpoint(POSITION, LEARNER, SELFPLAY).save(tmp_path)
    found = Checkpoint.load(tmp_path)
    assert found is not None and found.position == POSITION
    for part, expected in ((found.learner, LEARNER), (found.selfplay, SELFPLAY)):
        assert part.keys() == expected.keys()
        for name, array in expected.items():
            assert part[name].dtype == array.dtype and part[name].shape == array.shape
            assert part[name].tobytes() == array.tobytes()


def test_records_of_games_come_back(tmp_path: Path) -> None:
    states = np.zeros(2, [("mover", np.uint16), ("waiter", np.uint16)])
    states["waiter"] = 0o421, 0o777
    Checkpoint(POSITION, LEARNER, {"roots": states}).save(tmp_path)
    found = Checkpoint.load(tmp_path)
    assert found is not None
    target = np.zeros_like(states)
    target[...] = found.selfplay["roots"]
    assert target.tobytes() == states.tobytes()


def test_a_later_one_replaces_the_earlier(tmp_path: Path) -> None:
    Checkpoint(POSITION, LEARNER, SELFPLAY).save(tmp_path)
    Checkpoint(POSITION, {"updates": np.zeros(1)}, SELFPLAY).save(tmp_path)
    found = Checkpoint.load(tmp_path)
    assert found is not None and list(found.learner) == ["updates"]
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint"]


@pytest.mark.parametrize("where", [0.0, 0.3, 0.6, 0.99])
def test_a_cut_file_is_damaged(tmp_path: Path, where: float) -> None:
    Checkpoint(POSITION, LEARNER, SELFPLAY).save(tmp_path)
    path = tmp_path / "checkpoint"
    whole = path.read_bytes()
    path.write_bytes(whole[: int(where * len(whole))])
    with pytest.raises(FileDamaged, match="checkpoint is truncated"):
        Checkpoint.load(tmp_path)


@pytest.mark.parametrize("where", [0.0, 0.3, 0.6, 0.99])
def test_an_altered_bit_is_noticed(tmp_path: Path, where: float) -> None:
    Checkpoint(POSITION, LEARNER, SELFPLAY).save(tmp_path)
    path = tmp_path / "checkpoint"
    raw = bytearray(path.read_bytes())
    raw[int(where * len(raw))] ^= 4
    path.write_bytes(bytes(raw))
    with pytest.raises(FileDamaged, match="restore it from a copy"):
        Checkpoint.load(tmp_path)


def test_another_file_in_its_place_is_refused(tmp_path: Path) -> None:
    write_arrays(tmp_path / "checkpoint", SELFPLAY, {"kind": "shard"})
    with pytest.raises(FileDamaged, match="is not a checkpoint"):
        Checkpoint.load(tmp_path)


def test_a_missing_part_is_told(tmp_path: Path) -> None:
    Checkpoint(POSITION, LEARNER, {}).save(tmp_path)
    with pytest.raises(RunFolderError, match="no selfplay/ part"):
        Checkpoint.load(tmp_path)


def test_copies_do_not_follow_the_original() -> None:
    original = {"updates": np.array([1])}
    taken = copied(original)
    original["updates"][0] = 2
    assert taken["updates"].tolist() == [1]
