"""Runs that train several networks on the same games."""

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import torch

from rookery.base import ConfigError
from rookery.nets import Ensemble, pack, unpack
from rookery.training import (
    Config,
    InitialWeights,
    PlayerSpec,
    Progress,
    RunFolder,
    Stopped,
    apply,
    train,
)
from rookery.training.factory import open_loop


def ignore(progress: Progress) -> None:
    """Let the run go on."""


@pytest.fixture(scope="module")
def config(tiny_config: Config) -> Config:
    return apply(tiny_config, ["net.members=2", "run.iterations=4"])


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, config: Config) -> RunFolder:
    """A finished run of two networks; only to be read."""
    folder = RunFolder.create(tmp_path_factory.mktemp("runs") / "pair", config)
    train(folder, ignore)
    return folder


def test_the_weights_of_a_run_are_those_of_all_members(run: RunFolder) -> None:
    weights = run.load_weights()
    net = weights.build()
    assert isinstance(net, Ensemble) and len(net.members) == 2
    stems = [weights.state[f"members.{n}.stem.conv.weight"] for n in range(2)]
    assert not torch.equal(*stems)
    payload = pack(weights.state, weights.header)
    assert unpack(payload, run.game_spec()).fingerprint == weights.fingerprint
    spec = PlayerSpec("net", name="pair", simulations=2, weights=payload, inference="float32")
    assert spec.player(run.game, seed=1).name == "pair"


def test_a_stopped_run_goes_on_bit_for_bit(
    run: RunFolder, config: Config, tmp_path: Path, trace: Callable[[Path], Any]
) -> None:
    def stop(progress: Progress) -> None:
        if progress.iteration == 2 and progress.phase == "learning":
            raise Stopped

    stopped = RunFolder.create(tmp_path / "stopped", config)
    train(stopped, stop)
    train(RunFolder(stopped.path), ignore)
    expected, found = trace(run.path), trace(stopped.path)
    for field in fields(expected):
        assert getattr(found, field.name) == getattr(expected, field.name), field.name


def test_actors_play_with_the_mean(config: Config, tmp_path: Path, in_threads: None) -> None:
    folder = RunFolder.create(tmp_path / "run", apply(config, ["run.actors=1", "run.iterations=2"]))
    train(folder, ignore)
    assert isinstance(folder.load_weights().build(), Ensemble)


def test_one_network_starts_every_member_and_the_first_member_one_network(
    run: RunFolder, finished: RunFolder, config: Config, tiny_config: Config, tmp_path: Path
) -> None:
    one = InitialWeights("one", finished.load_weights())
    both = RunFolder.create(tmp_path / "both", config, one)
    assert both.origin is not None and not both.origin.new
    state = both.load_weights(0).state
    for n in range(2):
        name = "blocks.0.first.conv.weight"
        assert torch.equal(state[f"members.{n}.{name}"], one.weights.state[name])
    with open_loop(both, ignore) as loop:
        assert loop.learner.updates == 0
    first = RunFolder.create(
        tmp_path / "first", tiny_config, InitialWeights("pair", run.load_weights())
    )
    name = "policy.last.weight"
    found, expected = first.load_weights(0).state[name], run.load_weights().state
    assert torch.equal(found, expected[f"members.0.{name}"])


def test_trainers_and_too_many_members_are_refused(config: Config) -> None:
    with pytest.raises(ConfigError, match=r"net.members=2 needs learning.method=single"):
        apply(config, ["learning.method=distributed"])
    with pytest.raises(ConfigError, match=r"net.members"):
        apply(config, ["net.members=65"])
    with pytest.raises(ConfigError, match=r"and net.members=64 has"):
        apply(config, ["net.members=64", "net.width=1024", "net.depth=10"])
