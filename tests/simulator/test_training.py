"""A whole run by the ring for GPUs: it learns, stops, resumes and ends."""

from pathlib import Path

import pytest
import torch

from rookery.base import RunFolderError
from rookery.learning import GpuLearner
from rookery.selfplay import DeviceSelfPlay, SelfPlayConfig
from rookery.training import InitialWeights, RunFolder, Stats, Stopped, apply, device, recipe_for
from rookery.training.actors import engines as seats
from rookery.training.device import DeviceRing
from rookery.training.host import HostRing

SMALL = [
    "run.devices=cpu",
    "run.iterations=6",
    "run.moves=4",
    "run.checkpoint_every=3",
    "run.strength_every=0",
    "run.inference=float32",
    "selfplay.games=6",
    "selfplay.simulations=4, 6@0.5",
    "learning.batch_size=16",
    "learning.precision=float32",
    "net.width=4",
    "net.depth=1",
]


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder.create(tmp_path / "run", apply(recipe_for("tictactoe"), SMALL))


def lines(folder: RunFolder, kind: str) -> list[dict]:
    return [line for line in Stats(folder.path).lines() if line["kind"] == kind]


def test_a_run_learns_and_writes_down_what_it_did(folder: RunFolder) -> None:
    ring = DeviceRing(folder, lambda moment: None)
    while ring.progress() < 1.0:
        ring.turn()
    ring.finish()
    turns = lines(folder, "iteration")
    assert [line["iteration"] for line in turns] == [1, 2, 3, 4, 5, 6]
    rows = sum(line["learning"]["rows"] for line in turns if line["learning"])
    assert 0 < rows <= 2 * turns[-1]["window"]["rows_made"] + 4 * 16
    assert lines(folder, "finished")
    assert folder.load_weights().header.step == ring.learner.updates


def test_a_stopped_run_goes_on_with_all_its_rows(folder: RunFolder) -> None:
    first = DeviceRing(folder, lambda moment: None)
    for _ in range(3):
        first.turn()
    first.turn()
    first.stop()
    again = DeviceRing(RunFolder(folder.path), lambda moment: None)
    assert again.iteration == 4
    assert again.window.rows_made == first.window.rows_made
    assert again.window.statistics(4).rows == first.window.statistics(4).rows
    assert again.learner.updates == first.learner.updates
    while again.progress() < 1.0:
        again.turn()
    again.finish()
    assert [line["iteration"] for line in lines(folder, "iteration")] == [1, 2, 3, 4, 5, 6]


def test_a_run_begins_with_the_weights_of_another(folder: RunFolder, tmp_path: Path) -> None:
    net = DeviceRing(folder, lambda moment: None).learner.play_net
    for weights in net.parameters():
        torch.nn.init.normal_(weights, std=0.3)
    folder.save_weights(net, iteration=1, step=7)
    first = InitialWeights("runs/run", folder.load_weights())
    fresh = RunFolder.create(tmp_path / "fresh", folder.config, first)
    ring = DeviceRing(fresh, lambda moment: None)
    state = ring.learner.play_net.state_dict()
    assert all(torch.equal(state[name], first.weights.state[name]) for name in state)
    assert ring.learner.updates == 0


def test_a_watcher_can_stop_it(folder: RunFolder) -> None:
    def watch(moment: object) -> None:
        raise Stopped

    ring = DeviceRing(folder, watch)
    with pytest.raises(Stopped):
        ring.turn()
    ring.stop()
    assert RunFolder(folder.path).config == folder.config


def test_games_that_do_not_fit_are_halved_and_that_is_said(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cramped(*arguments: object, config: SelfPlayConfig, **options: object) -> DeviceSelfPlay:
        if config.games > 20:
            raise torch.cuda.OutOfMemoryError("no room")
        return DeviceSelfPlay(*arguments, config=config, **options)

    monkeypatch.setattr(seats, "DeviceSelfPlay", cramped)
    folder.adapt(apply(folder.config, ["selfplay.games=64"]))
    ring = device.DeviceRing(folder, lambda moment: None)
    ring.turn()
    assert ring.config.selfplay.games == 16
    assert RunFolder(folder.path).config.selfplay.games == 16
    assert ring.moment.notes == tuple(line["note"] for line in lines(folder, "note"))
    assert "going on with 16" in ring.moment.notes[-1]


def test_a_run_resumes_where_fewer_games_fit(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.adapt(apply(folder.config, ["selfplay.games=40"]))
    first = DeviceRing(folder, lambda moment: None)
    first.turn()
    first.stop()

    def cramped(*arguments: object, config: SelfPlayConfig, **options: object) -> DeviceSelfPlay:
        if config.games > 20:
            raise torch.cuda.OutOfMemoryError("no room")
        return DeviceSelfPlay(*arguments, config=config, **options)

    monkeypatch.setattr(seats, "DeviceSelfPlay", cramped)
    again = DeviceRing(RunFolder(folder.path), lambda moment: None)
    again.turn()
    assert again.config.selfplay.games == 20 and again.iteration == 2


def test_a_stop_in_the_middle_keeps_the_last_checkpoint(folder: RunFolder) -> None:
    ring = DeviceRing(folder, lambda moment: None)
    for _ in range(3):
        ring.turn()
    ring.selfplay.collect = lambda: (_ for _ in ()).throw(Stopped)  # type: ignore[method-assign]
    with pytest.raises(Stopped):
        ring.turn()
    ring.stop()
    again = DeviceRing(RunFolder(folder.path), lambda moment: None)
    assert again.iteration == 3
    assert [line["iteration"] for line in lines(folder, "iteration")] == [1, 2, 3]


def test_games_kept_for_a_gpu_are_not_resumed_on_the_cpu(folder: RunFolder) -> None:
    ring = DeviceRing(folder, lambda moment: None)
    ring.turn()
    ring.stop()
    with pytest.raises(RunFolderError, match="resume it with --devices cuda:0"):
        HostRing(RunFolder(folder.path), lambda moment: None)


def test_a_batch_that_does_not_fit_is_learned_in_parts(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    enqueue = GpuLearner.enqueue

    def cramped(learner: GpuLearner, *arguments: object, **options: object) -> object:
        if learner.config.accumulate < 4:
            raise torch.cuda.OutOfMemoryError("no room")
        return enqueue(learner, *arguments, **options)

    monkeypatch.setattr(GpuLearner, "enqueue", cramped)
    ring = device.DeviceRing(folder, lambda moment: None)
    while ring.progress() < 1.0:
        ring.turn()
    assert ring.learner.config.accumulate == 4
    assert ring.learner.updates > 0
    assert RunFolder(folder.path).config.learning.accumulate == 4
    assert "in 4 parts" in lines(folder, "note")[-1]["note"]
