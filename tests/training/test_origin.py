"""Runs that start with the weights of another run."""

import json
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
import torch

from rookery.base import ConfigError, FileDamaged
from rookery.games import load_game
from rookery.nets import NetConfig
from rookery.training import (
    Config,
    InitialWeights,
    Origin,
    Progress,
    RunFolder,
    Stats,
    Stopped,
    apply,
    load_shipped,
    train,
)
from rookery.training.factory import open_loop

pytestmark = pytest.mark.usefixtures("quick_strength")


def ignore(progress: Progress) -> None:
    """Let the run go on."""


@pytest.fixture
def first(finished: RunFolder) -> InitialWeights:
    """The newest weights of the finished run."""
    return InitialWeights("runs/finished", finished.load_weights())


@pytest.fixture
def folder(tmp_path: Path, tiny_config: Config, first: InitialWeights) -> RunFolder:
    """A new run that starts with these weights."""
    return RunFolder.create(tmp_path / "run", tiny_config, first)


def test_a_folder_records_where_its_weights_come_from(
    folder: RunFolder, first: InitialWeights
) -> None:
    opened = RunFolder(folder.path)
    step = first.weights.header.step
    assert opened.origin == Origin("runs/finished", first.weights.fingerprint, step)
    assert step > 0
    assert opened.load_weights(0).fingerprint == first.weights.fingerprint


def test_a_run_from_scratch_has_no_origin(finished: RunFolder) -> None:
    assert finished.origin is None and finished.first_weights() is None


@pytest.mark.parametrize("setting", ["run.actors=0", "run.actors=1", "learning.method=distributed"])
def test_every_kind_of_run_starts_with_them_and_counts_from_zero(
    folder: RunFolder, first: InitialWeights, setting: str
) -> None:
    folder.change(apply(folder.config, [setting]))
    with open_loop(folder, ignore) as loop:
        arrays = loop.learner.state()
    played = loop.learner.play_net.state_dict()
    assert played.keys() == first.weights.state.keys()
    for name, expected in first.weights.state.items():
        assert torch.equal(played[name], expected)
        assert torch.equal(torch.from_numpy(arrays[f"net.{name}"]), expected)
    assert loop.learner.updates == 0
    started = [line for line in Stats(folder.path).lines() if line["kind"] == "started"]
    assert [line["origin"]["source"] for line in started] == ["runs/finished"]


def test_a_run_with_a_checkpoint_no_longer_needs_them(
    folder: RunFolder, first: InitialWeights, tmp_path: Path, trace: Callable[[Path], Any]
) -> None:
    uninterrupted = RunFolder.create(tmp_path / "uninterrupted", folder.config, first)
    train(uninterrupted, ignore)

    def stop(progress: Progress) -> None:
        if progress.iteration == 3:
            raise Stopped

    train(folder, stop)
    (folder.path / "weights" / "000000.safetensors").unlink()
    train(RunFolder(folder.path), ignore)
    expected, found = trace(uninterrupted.path), trace(folder.path)
    for field in fields(expected):
        assert getattr(found, field.name) == getattr(expected, field.name), field.name


def test_a_network_of_another_shape_is_refused_and_leaves_no_folder(
    tmp_path: Path, tiny_config: Config, first: InitialWeights
) -> None:
    wide = apply(tiny_config, ["net.width=16"])
    with pytest.raises(ConfigError, match=r"net.width is 16, but 8 in runs/finished"):
        RunFolder.create(tmp_path / "run", wide, first)
    assert not (tmp_path / "run").exists()


def test_weights_of_another_game_are_refused(tmp_path: Path, tiny_config: Config) -> None:
    other = InitialWeights("connect4", load_shipped(load_game("connect4")))
    config = replace(tiny_config, net=NetConfig(**vars(other.weights.header.config)))
    with pytest.raises(ConfigError, match="was this net trained for connect4"):
        RunFolder.create(tmp_path / "run", config, other)


def test_a_damaged_origin_is_detected(folder: RunFolder) -> None:
    path = folder.path / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "origin": {"from": "x"}}))
    with pytest.raises(FileDamaged, match="damaged"):
        RunFolder(folder.path)
