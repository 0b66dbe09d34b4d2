"""A run that begins with the weights of another: once, and then on its own."""

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
from rookery.training.crewed import CrewedRing
from rookery.training.host import HostRing
from rookery.training.ring import Ring

pytestmark = pytest.mark.usefixtures("quick_strength")


def nothing(moment: Progress) -> None:
    """A watcher that lets the run go on."""


@pytest.fixture
def first(finished: RunFolder) -> InitialWeights:
    """What the finished run has reached."""
    return InitialWeights("runs/finished", finished.load_weights())


@pytest.fixture
def folder(tmp_path: Path, tiny_config: Config, first: InitialWeights) -> RunFolder:
    """A new run that begins with it."""
    return RunFolder.create(tmp_path / "run", tiny_config, first)


def test_a_folder_remembers_where_its_weights_come_from(
    folder: RunFolder, first: InitialWeights
) -> None:
    opened = RunFolder(folder.path)
    step = first.weights.header.step
    assert opened.origin == Origin("runs/finished", first.weights.fingerprint, step)
    assert step > 0
    assert opened.load_weights(0).fingerprint == first.weights.fingerprint


def test_a_run_from_nothing_has_no_origin(finished: RunFolder) -> None:
    assert finished.origin is None and finished.first_weights() is None


@pytest.mark.parametrize("kind", [HostRing, CrewedRing])
def test_every_ring_begins_with_them_and_counts_anew(
    folder: RunFolder, first: InitialWeights, kind: type[Ring]
) -> None:
    ring = kind(folder, nothing)
    for net in (ring.learner.net, ring.learner.play_net):
        state = net.state_dict()
        assert all(torch.equal(state[name], first.weights.state[name]) for name in state)
    assert ring.learner.updates == 0
    started = next(Stats(folder.path).lines())
    assert started["kind"] == "started" and started["origin"]["source"] == "runs/finished"


def test_once_begun_a_run_needs_them_no_more(
    folder: RunFolder, first: InitialWeights, tmp_path: Path, trace: Callable[[Path], Any]
) -> None:
    straight = RunFolder.create(tmp_path / "straight", folder.config, first)
    train(straight, nothing)

    def stop(moment: Progress) -> None:
        if moment.iteration == 3:
            raise Stopped

    train(folder, stop)
    (folder.path / "weights" / "000000.safetensors").unlink()
    train(RunFolder(folder.path), nothing)
    expected, found = trace(straight.path), trace(folder.path)
    for field in fields(expected):
        assert getattr(found, field.name) == getattr(expected, field.name), field.name


def test_another_shape_is_refused_and_leaves_no_folder(
    tmp_path: Path, tiny_config: Config, first: InitialWeights
) -> None:
    wide = apply(tiny_config, ["net.width=16"])
    with pytest.raises(ConfigError, match=r"net.width is 16, but 8 in runs/finished"):
        RunFolder.create(tmp_path / "run", wide, first)
    assert not (tmp_path / "run").exists()


def test_another_game_is_refused(tmp_path: Path, tiny_config: Config) -> None:
    other = InitialWeights("connect4", load_shipped(load_game("connect4")))
    config = replace(tiny_config, net=NetConfig(**vars(other.weights.header.config)))
    with pytest.raises(ConfigError, match="was this net trained for connect4"):
        RunFolder.create(tmp_path / "run", config, other)


def test_a_damaged_origin_is_noticed(folder: RunFolder) -> None:
    path = folder.path / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "origin": {"from": "x"}}))
    with pytest.raises(FileDamaged, match="damaged"):
        RunFolder(folder.path)
