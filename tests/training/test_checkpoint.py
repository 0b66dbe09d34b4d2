"""The checkpoint file: arrays come back bit for bit, and damage is detected."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rookery.base import FileDamaged, write_arrays
from rookery.training.store.checkpoint import NAME, Checkpoint, RunPosition

POSITION = RunPosition(
    iteration=12,
    seconds=3.25,
    rows_made=700,
    rows_owed=12.5,
    shards=(3, 4, 5),
    selfplay="cpu",
    inference="float32",
    precision="bfloat16",
)
LEARNER: dict[str, NDArray[Any]] = {
    "net.weight": np.array([[1.5, np.nan], [-0.0, np.inf]], np.float32),
    "updates": np.array([2**40], np.int64),
}
SELFPLAY: dict[str, NDArray[Any]] = {
    "streams": np.array([1, 2**64 - 1], np.uint64),
    "actions": np.arange(6, dtype=np.int16).reshape(2, 3),
}


def test_there_is_none_before_the_first(tmp_path: Path) -> None:
    assert Checkpoint.load(tmp_path) is None


def test_a_loaded_checkpoint_equals_the_saved_one(tmp_path: Path) -> None:
    Checkpoint(POSITION, LEARNER, SELFPLAY).save(tmp_path)
    found = Checkpoint.load(tmp_path)
    assert found is not None and found.position == POSITION
    for part, expected in ((found.learner, LEARNER), (found.selfplay, SELFPLAY)):
        assert part.keys() == expected.keys()
        for name, array in expected.items():
            assert part[name].dtype == array.dtype and part[name].shape == array.shape
            assert part[name].tobytes() == array.tobytes()


def test_game_states_come_back_as_bytes(tmp_path: Path) -> None:
    states = np.zeros(2, [("mover", np.uint16), ("waiter", np.uint16)])
    states["waiter"] = 0o421, 0o777
    Checkpoint(POSITION, LEARNER, {"roots": states}).save(tmp_path)
    found = Checkpoint.load(tmp_path)
    assert found is not None
    assert found.selfplay["roots"].tobytes() == states.tobytes()
    assert found.selfplay["roots"].shape == (2, states.itemsize)


def test_a_new_checkpoint_replaces_the_old_one(tmp_path: Path) -> None:
    Checkpoint(POSITION, LEARNER, SELFPLAY).save(tmp_path)
    Checkpoint(POSITION, {"updates": np.zeros(1)}, SELFPLAY).save(tmp_path)
    found = Checkpoint.load(tmp_path)
    assert found is not None and list(found.learner) == ["updates"]
    assert [path.name for path in tmp_path.iterdir()] == [NAME]


@pytest.mark.parametrize("where", [0.0, 0.3, 0.6, 0.99])
def test_a_truncated_file_is_refused(tmp_path: Path, where: float) -> None:
    Checkpoint(POSITION, LEARNER, SELFPLAY).save(tmp_path)
    path = tmp_path / NAME
    whole = path.read_bytes()
    path.write_bytes(whole[: int(where * len(whole))])
    with pytest.raises(FileDamaged, match=r"checkpoint\.safetensors is truncated"):
        Checkpoint.load(tmp_path)


@pytest.mark.parametrize("where", [0.0, 0.3, 0.6, 0.99])
def test_a_flipped_bit_is_detected(tmp_path: Path, where: float) -> None:
    Checkpoint(POSITION, LEARNER, SELFPLAY).save(tmp_path)
    path = tmp_path / NAME
    raw = bytearray(path.read_bytes())
    raw[int(where * len(raw))] ^= 4
    path.write_bytes(bytes(raw))
    with pytest.raises(FileDamaged, match="restore it from a copy"):
        Checkpoint.load(tmp_path)


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    write_arrays(tmp_path / NAME, SELFPLAY, {"kind": "shard"})
    with pytest.raises(FileDamaged, match="is not a checkpoint"):
        Checkpoint.load(tmp_path)


def test_a_checkpoint_does_not_follow_the_arrays_it_was_made_of() -> None:
    learner, selfplay = {"updates": np.array([1])}, {"plies": np.array([3])}
    taken = Checkpoint.copy(POSITION, learner, selfplay)
    learner["updates"][0] = selfplay["plies"][0] = 9
    assert taken.learner["updates"].tolist() == [1]
    assert taken.selfplay["plies"].tolist() == [3]


def test_a_checkpoint_without_games_or_learner_is_refused(tmp_path: Path) -> None:
    Checkpoint(POSITION, LEARNER, {}).save(tmp_path)
    with pytest.raises(FileDamaged, match="no selfplay/ part"):
        Checkpoint.load(tmp_path)
