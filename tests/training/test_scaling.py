"""Requests to change the workers of a run that trains: carried out, refused or withdrawn."""

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest
import torch

from rookery.gpu import GpuUsage
from rookery.training import Config, RunFolder, Stats, apply, write_request
from rookery.training.run import Run
from rookery.training.scaling import Scaler
from rookery.training.store.requests import find_requests


class FakeActors:
    """An actor pool that only counts."""

    def __init__(self, size: int) -> None:
        self.size = size

    def scale(self, run: Any) -> None:
        self.size = int(run.actors)

    def count(self) -> tuple[int, int]:
        return 1, self.size

    def describe(self) -> str:
        return f"{self.size} actors"


class FakeTrainers(FakeActors):
    """A trainer pool that only counts."""

    play_net, is_alone = torch.nn.Identity(), False

    def scale(self, workers: int, devices: tuple[torch.device, ...]) -> None:  # type: ignore[override]
        self.size, self.devices = workers, devices

    def describe(self) -> str:
        return f"{self.size} trainers"


class Fixture:
    """A run with fake pools, and its scaler."""

    def __init__(
        self, path: Path, config: Config, *, actors: int = 0, trainers: int = 0, is_new: bool = True
    ) -> None:
        self.folder = RunFolder.create(path, config) if is_new else RunFolder(path)
        self.run = Run(
            self.folder, lambda progress: None, device=torch.device("cpu"), iteration=7, seconds=0.0
        )
        self.actors = FakeActors(actors) if actors else None
        self.trainers = FakeTrainers(trainers) if trainers else None
        self.now = 10.0
        pools: dict[str, Any] = {"actors": self.actors, "trainers": self.trainers}
        with self.folder.lock():
            self.scaler = Scaler(self.run, **pools, clock=lambda: self.now)

    def ask(self, *settings: str) -> dict[str, Any]:
        """Write a request, and return the answer of the run's next look."""
        request = write_request(self.folder.path, settings)
        self.now += 1.0
        self.scaler.poll()
        assert not request.exists()
        last = self.lines("scaled")[-1]
        assert last["request"] == request.stem and last["iteration"] == 7
        return last

    def lines(self, kind: str) -> list[dict[str, Any]]:
        return [line for line in Stats(self.folder.path).lines() if line["kind"] == kind]

    def notes(self) -> list[str]:
        return [line["note"] for line in self.lines("note")]


TRAINERS = ["learning.method=distributed", "learning.workers=1"]


@pytest.fixture
def fixture(tmp_path: Path, tiny_config: Config) -> Fixture:
    """A run with two actors and a trainer."""
    config = apply(tiny_config, ["run.actors=2", *TRAINERS])
    return Fixture(tmp_path / "run", config, actors=2, trainers=1)


def test_a_request_changes_pools_and_settings(fixture: Fixture) -> None:
    answer = fixture.ask("run.actors=3", "learning.workers=2")
    assert (answer["refused"], answer["devices"]) == ("", "auto")
    assert answer["actors"] == {"ready": 1, "size": 3}
    assert answer["trainers"] == {"ready": 1, "size": 2}
    assert fixture.actors and fixture.actors.size == 3
    assert fixture.trainers and fixture.trainers.size == 2
    kept = RunFolder(fixture.folder.path).config
    assert (kept.run.actors, kept.learning.workers) == ("3", "2"), "resume continues with them"
    assert fixture.notes() == ["scaled from 2 actors to 3 actors; from 1 trainers to 2 trainers"]


def test_only_what_a_request_names_is_scaled(fixture: Fixture) -> None:
    fixture.ask("run.actors=3")
    assert fixture.notes() == ["scaled from 2 actors to 3 actors"]
    fixture.ask("learning.workers=3")
    assert fixture.notes()[1:] == ["scaled from 1 trainers to 3 trainers"]


def test_the_folder_is_not_read_all_the_time(fixture: Fixture) -> None:
    fixture.scaler.poll()
    request = write_request(fixture.folder.path, ["run.actors=3"])
    fixture.scaler.poll()
    assert request.exists()
    fixture.now += 1.0
    fixture.scaler.poll()
    assert not request.exists()


def test_several_requests_are_carried_out_in_their_order(fixture: Fixture) -> None:
    for number in (4, 5, 6):
        write_request(fixture.folder.path, [f"run.actors={number}"])
    fixture.scaler.poll()
    assert fixture.actors and fixture.actors.size == 6
    assert [line["actors"]["size"] for line in fixture.lines("scaled")] == [4, 5, 6]


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ([], "names no setting"),
        (["run.actors=many"], "run.actors is 'many', expected a whole number"),
        (["run.actors=0"], "games are played by actors, which cannot change while the run trains"),
        (["learning.workers=0"], "learning.workers is '0', expected"),
        (["learning.workers=65"], "no row for each of 65 trainers"),
        (["run.seed=2"], "run.seed cannot change while a run trains"),
        (["run.actors=3", "learning.workers=65"], "no row for each"),
        (["run.devices=tpu"], "unknown device 'tpu'"),
        (["net.width"], "expected a setting like"),
    ],
)
def test_impossible_requests_are_refused_and_change_nothing(
    fixture: Fixture, settings: list[str], why: str
) -> None:
    before = RunFolder(fixture.folder.path).config
    assert why in fixture.ask(*settings)["refused"]
    assert fixture.actors and fixture.actors.size == 2
    assert fixture.trainers and fixture.trainers.size == 1
    assert RunFolder(fixture.folder.path).config == before
    assert len(fixture.notes()) == 1 and fixture.notes()[0].startswith("not scaled: ")


def test_a_run_without_workers_says_what_to_do(tmp_path: Path, tiny_config: Config) -> None:
    fixture = Fixture(tmp_path / "run", tiny_config)
    answer = fixture.ask("run.actors=2")
    assert "played by the process that learns" in answer["refused"]
    assert "use `rookery resume` with --actors" in answer["refused"]
    assert "has no trainers; " in fixture.ask("learning.workers=2")["refused"]
    assert answer.keys() & {"actors", "trainers"} == set()


def test_the_device_that_learns_stays(fixture: Fixture, monkeypatch: pytest.MonkeyPatch) -> None:
    found = (torch.device("cuda", 1), torch.device("cuda", 0))
    monkeypatch.setattr("rookery.training.scaling.learning_devices", lambda names: found)
    refused = fixture.ask("run.devices=cuda:1,cuda:0")["refused"]
    assert "learns on cpu, expected it as the first of the devices, got cuda:1,cuda:0" in refused


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"settings": 3}', b"\xff" * 20_000])
def test_a_damaged_request_is_answered_and_removed(fixture: Fixture, content: bytes) -> None:
    path = fixture.folder.path / "scale-1.json"
    path.write_bytes(content)
    fixture.scaler.poll()
    assert not path.exists()
    (answer,) = fixture.lines("scaled")
    assert answer["request"] == "scale-1" and "no request of rookery scale" in answer["refused"]


def test_a_request_that_cannot_be_removed_is_answered_once(fixture: Fixture) -> None:
    (fixture.folder.path / "scale-1.json").mkdir()
    os.mkfifo(fixture.folder.path / "scale-2.json")
    for _ in range(3):
        fixture.now += 1.0
        fixture.scaler.poll()
    assert len(fixture.lines("scaled")) == 2


def test_requests_from_before_the_run_was_started_are_dropped(
    fixture: Fixture, tiny_config: Config
) -> None:
    path = fixture.folder.path
    old = write_request(path, ["run.actors=5"])
    os.utime(old, (1, 1))
    again = Fixture(path, tiny_config, actors=2, is_new=False)
    again.scaler.poll()
    assert not find_requests(path) and not again.lines("scaled")
    assert again.ask("run.actors=4")["refused"] == ""


def test_a_request_is_a_whole_file(fixture: Fixture) -> None:
    path = write_request(fixture.folder.path, ["run.actors=3"])
    assert json.loads(path.read_text()) == {"settings": ["run.actors=3"]}


def test_the_load_of_every_gpu_is_measured(
    tmp_path: Path, tiny_config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rookery.gpu.devices._missing_for_gpu", lambda: "")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 3)
    monkeypatch.setattr(torch.cuda, "utilization", lambda device: 10 * (device.index + 1))
    monkeypatch.setattr(torch.cuda, "device_memory_used", lambda device: 2**20 * device.index)
    config = apply(tiny_config, ["run.devices=cuda:0,cuda:1"])
    folder = RunFolder.create(tmp_path / "run", config)
    threads = threading.active_count()
    device = torch.device("cuda", 0)
    run = Run(folder, lambda progress: None, device=device, iteration=0, seconds=0.0)
    usage = {"cuda:0": GpuUsage(0.1, 0), "cuda:1": GpuUsage(0.2, 1), "cuda:2": GpuUsage(0.3, 2)}
    run.show("self-play")
    assert run.shown.devices == {name: usage[name] for name in ("cuda:0", "cuda:1")}
    run.adapt(apply(config, ["run.devices=cuda:0,cuda:2"]), "scaled")
    run.show("self-play")
    assert run.shown.devices == {name: usage[name] for name in ("cuda:0", "cuda:2")}
    run.record_end()
    run.close()
    assert threading.active_count() == threads
    last = list(Stats(folder.path).lines())[-1]
    assert last["device"] == {"busy": pytest.approx(0.1), "memory_mb": 0}
    assert last["devices"]["cuda:2"] == {"busy": pytest.approx(0.3), "memory_mb": 2}
