"""Runs that start with the weights of another run."""

import json
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
import torch

from rookery.arena import sample_boards
from rookery.base import FileDamaged
from rookery.games import load_game
from rookery.nets import NetConfig, WeightsHeader, pack, unpack
from rookery.nets.resnet import without_zero_layers
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
from rookery.training.store.origin import game_spec, new_net

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
    tensors = sum(tensor.is_floating_point() for tensor in first.weights.state.values())
    assert opened.origin == Origin(
        "runs/finished", first.weights.fingerprint, step, copied=tensors, tensors=tensors
    )
    assert step > 0 and opened.origin.note == ""
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


@pytest.mark.parametrize("kind", ["resnet", "spiking"])
def test_a_deeper_network_starts_as_the_one_it_was_given(
    tmp_path: Path, tiny_config: Config, kind: str
) -> None:
    """Its new blocks pass on what they get, so that it plays as well from the first move on."""
    game = load_game("tictactoe")
    shallow = apply(tiny_config, ["net.depth=2", f"net.kind={kind}"])
    net = new_net(shallow, game)
    net.load_state_dict(without_zero_layers(net).state_dict())
    header = WeightsHeader(game_spec(game), shallow.net, 7)
    first = InitialWeights("shallow", unpack(pack(net.state_dict(), header)))
    folder = RunFolder.create(tmp_path / "run", apply(shallow, ["net.depth=4"]), first)
    assert folder.origin is not None
    assert folder.origin.new == ("blocks.2", "blocks.3") and folder.origin.step == 7
    assert folder.origin.note == "copied 35 of 55 tensors from shallow; new: blocks.2, blocks.3"
    boards = torch.from_numpy(sample_boards(game, 20))
    deep = folder.load_weights(0).build().eval()
    for found, expected in zip(deep(boards), net.eval()(boards), strict=True):
        torch.testing.assert_close(found, expected)
    assert deep.state_dict()["blocks.3.first.conv.weight"].abs().sum() > 0


def test_a_wider_network_takes_what_has_its_shape(
    tmp_path: Path, tiny_config: Config, first: InitialWeights
) -> None:
    config = apply(tiny_config, ["net.width=16"])
    folder = RunFolder.create(tmp_path / "run", config, first)
    assert folder.origin is not None
    assert folder.origin.new == ("stem", "blocks", "policy.conv.weight", "value.conv.weight")
    found, random = folder.load_weights(0).state, new_net(config, folder.game).state_dict()
    assert torch.equal(found["value.hidden.weight"], first.weights.state["value.hidden.weight"])
    assert torch.equal(found["stem.conv.weight"], random["stem.conv.weight"])
    train(RunFolder(folder.path), ignore)
    (started,) = (line for line in Stats(folder.path).lines() if line["kind"] == "started")
    assert started["origin"]["new"] == list(folder.origin.new)
    notes = [line["note"] for line in Stats(folder.path).lines() if line["kind"] == "note"]
    assert notes == [folder.origin.note]


def test_a_network_of_another_board_gives_its_tower(tmp_path: Path, tiny_config: Config) -> None:
    other = InitialWeights("connect4", load_shipped(load_game("connect4")))
    config = replace(tiny_config, net=NetConfig(**vars(other.weights.header.config)))
    folder = RunFolder.create(tmp_path / "run", config, other)
    found = folder.load_weights(0)
    assert found.header.game == folder.game_spec()
    for name, tensor in other.weights.state.items():
        if name.startswith("blocks.") and tensor.is_floating_point():
            assert torch.equal(found.state[name], tensor.float())
    assert folder.origin is not None and "policy.last" in folder.origin.new


def test_a_long_list_of_new_parts_is_shortened() -> None:
    new = tuple(f"blocks.{number}" for number in range(10))
    note = Origin("X", "", 0, copied=1, tensors=11, new=new).note
    assert note.endswith("blocks.6, blocks.7, 2 more") and note.startswith("copied 1 of 11 tensors")


@pytest.mark.parametrize("origin", [{"from": "x"}, {"new": 5}, []])
def test_a_damaged_origin_is_detected(folder: RunFolder, origin: Any) -> None:
    path = folder.path / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "origin": origin}))
    with pytest.raises(FileDamaged, match="damaged"):
        RunFolder(folder.path)
