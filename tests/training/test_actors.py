"""Runs whose games are played by actors in processes of their own, disturbed and undisturbed."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import psutil
import pytest

import rookery
from rookery.base import DiskFull
from rookery.nets import pack
from rookery.replay import concatenate, count, games_in, read_shard
from rookery.training import (
    PlayerSpec,
    Progress,
    RunFolder,
    Stats,
    Stopped,
    apply,
    measure_over,
    recipe_for,
    train,
)
from rookery.training.actors.actor import actor_seed
from rookery.training.store.checkpoint import Checkpoint
from rookery.workers import WorkersLost, pool
from thread_workers import ThreadWorker
from worker_functions import fail_at_once
from worker_processes import worker_processes as actors

SMALL = [
    "run.actors=2",
    "run.iterations=6",
    "run.moves=5",
    "run.checkpoint_every=2",
    "run.strength_every=0",
    "run.inference=float32",
    "net.width=8",
    "net.depth=1",
    "selfplay.games=16",
    "selfplay.simulations=3",
    "replay.window_min=2000",
    "learning.batch_size=32",
    "learning.reuse=2",
    "learning.precision=float32",
]


def new_run(path: Path, *settings: str) -> RunFolder:
    return RunFolder.create(path, apply(recipe_for("tictactoe"), [*SMALL, *settings]))


def lines(folder: RunFolder, kind: str) -> list[dict[str, Any]]:
    return [line for line in Stats(folder.path).lines() if line["kind"] == kind]


def check_rows(folder: RunFolder) -> None:
    """Check that every row of the statistics is in a shard, once, and was learned from."""
    iterations = lines(folder, "iteration")
    assert [line["iteration"] for line in iterations] == list(range(1, len(iterations) + 1))
    shards = sorted((folder.path / "replay").glob("*.safetensors"))
    rows = concatenate([read_shard(path, game=folder.game) for path in shards])
    assert count(rows) == iterations[-1]["window"]["rows_made"]
    learned = sum(line["learning"]["rows"] for line in iterations if line["learning"])
    assert 0 <= 2 * count(rows) - learned < 32, "learning.reuse times, but for part of a batch"


@pytest.mark.parametrize("mode", ["overlapped", "phased"])
@pytest.mark.usefixtures("in_threads")
def test_a_run_with_actors(tmp_path: Path, mode: str) -> None:
    folder = new_run(tmp_path / "run", f"run.mode={mode}")
    train(folder, lambda progress: None)
    check_rows(folder)
    assert not actors()
    iterations = lines(folder, "iteration")
    workers = iterations[-1]["actors"]["workers"]
    assert [worker["name"] for worker in workers] == ["actor 0", "actor 1"]
    assert all(worker["memory_mb"] > 10 and worker["failures"] == 0 for worker in workers)
    assert any(worker["positions_per_second"] > 0 for worker in workers)  # one may come later
    assert all(0 < line["selfplay"]["mean_batch"] <= 8 for line in iterations), "of one actor"
    assert all(line["selfplay"]["useful_rows"] == 1 for line in iterations)
    limit = 0.0 if mode == "phased" else 2.0
    assert all(line["actors"]["staleness"] <= limit for line in iterations)
    assert not lines(folder, "note")
    assert folder.load_weights().header.step > 0


@pytest.mark.usefixtures("in_threads")
def test_actors_do_not_play_the_same_games(tmp_path: Path) -> None:
    settings = ["selfplay.opening_share=0.0", "selfplay.temperature_plies=9", "run.moves=40"]
    folder = new_run(tmp_path / "run", *settings, "run.iterations=2")
    train(folder, lambda progress: None)
    paths = (folder.path / "replay").glob("*.safetensors")
    shards = [read_shard(path, game=folder.game) for path in paths]
    # Two actors with one seed would send the same eight games and more, move for move.
    sent = [tuple(game.moves for game in games_in(rows)) for rows in shards]
    sent = [games for games in sent if len(games) >= 8]
    assert len(sent) == len(set(sent)) >= 4


def test_every_actor_and_every_successor_has_a_seed_of_its_own() -> None:
    config = recipe_for("tictactoe")
    seeds = {actor_seed(config, n, i) for n in range(50) for i in range(1, 50)}
    assert len(seeds) == 50 * 49


@pytest.mark.usefixtures("in_threads")
def test_an_actor_of_another_version_is_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "__version__", "99.0")
    folder = new_run(tmp_path / "run")
    with pytest.raises(WorkersLost, match=f"runs Rookery {rookery.__version__}, expected 99.0"):
        train(folder, lambda progress: None)
    assert not actors()


@pytest.mark.usefixtures("in_threads")
def test_a_run_whose_actors_all_fail_ends_within_its_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rookery.training.actors.pool.actor", fail_at_once)
    folder, begun = (
        new_run(tmp_path / "run", "run.minutes=0.1", "run.iterations=0"),
        time.monotonic(),
    )
    with pytest.raises(WorkersLost, match="this actor always fails"):
        train(folder, lambda progress: None)
    assert time.monotonic() - begun < 60  # without a limit, pauses between restarts last minutes


class Disturbance:
    """Does something once, when the run has come to an iteration."""

    def __init__(self, iteration: int, act: Callable[[], None]) -> None:
        self.iteration, self.act, self.is_done = iteration, act, False

    def __call__(self, progress: Progress) -> None:
        if not self.is_done and progress.iteration >= self.iteration:
            self.is_done = True
            self.act()


def test_killed_actors_are_replaced_and_nothing_received_is_lost(tmp_path: Path) -> None:
    def kill_two() -> None:
        for actor in actors()[:2]:
            actor.kill()

    folder = new_run(tmp_path / "run", "run.actors=3", "run.iterations=12")
    train(folder, Disturbance(2, kill_two))
    check_rows(folder)
    notes = [line["note"] for line in lines(folder, "note")]
    failures = [note for note in notes if " is slow: " not in note]  # as it may be, here
    assert len(failures) == 2
    assert all("killed by SIGKILL; restarting in" in note for note in failures)
    assert not actors()


@pytest.mark.usefixtures("in_threads")
def test_actors_measure_strength_as_one_process_does(tmp_path: Path) -> None:
    settings = ["run.strength_every=4", "run.strength_simulations=2", "run.iterations=6"]
    folder = new_run(tmp_path / "run", *settings)
    train(folder, Disturbance(4, lambda: ThreadWorker.running[0].kill()))
    measured = lines(folder, "strength")
    assert [line["iteration"] for line in measured] == [4, 6]
    weights = folder.load_weights(6)
    player = PlayerSpec(
        kind="net",
        simulations=2,
        search=folder.config.search,
        weights=pack(weights.state, weights.header),
        inference="float32",
    )
    (expected,) = measure_over(
        folder.game, [player], seed=folder.config.run.seed, workers=0, on_note=print
    )
    assert measured[-1]["strength"] == json.loads(json.dumps(asdict(expected)))
    assert lines(folder, "finished")
    check_rows(folder)


@pytest.mark.slow
def test_actors_follow_the_load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(4))  # of which half begin
    idle = ["run.actors=auto", "learning.reuse=0.1", "run.iterations=10"]
    folder = new_run(tmp_path / "idle", *idle)
    train(folder, lambda progress: None)
    notes = [line["note"] for line in lines(folder, "note")]
    assert notes[0].startswith("actor 2 is needed: the learner waited") and "added" in notes[0]
    busy = ["run.actors=auto", "learning.reuse=60", "run.iterations=6", "run.max_lag=0.2"]
    folder = new_run(tmp_path / "busy", *busy)
    train(folder, lambda progress: None)
    notes = [line["note"] for line in lines(folder, "note")]
    assert "actor 1 is not needed: games wait for the learner; retired" in notes
    assert not actors()


@pytest.mark.slow
def test_a_slow_actor_is_named(tmp_path: Path) -> None:
    settings = ["run.iterations=40", "run.actors=3", "replay.window_min=20000"]
    folder = new_run(tmp_path / "run", *settings)

    def slow_down() -> None:
        slowing.append(Slowed(actors()[1]))

    slowing: list[Slowed] = []
    train(folder, Disturbance(2, slow_down))
    slowing[0].release()
    notes = [line["note"] for line in lines(folder, "note")]
    assert any(" is slow: " in note and note.endswith("; kept") for note in notes), notes
    check_rows(folder)


class Slowed:
    """A process that is stopped nine tenths of the time."""

    def __init__(self, process: psutil.Process) -> None:
        self.process, self.is_over = process, threading.Event()
        threading.Thread(target=self._slow, daemon=True).start()

    def release(self) -> None:
        self.is_over.set()

    def _slow(self) -> None:
        with suppress(psutil.NoSuchProcess):
            while not self.is_over.is_set():
                self.process.suspend()
                time.sleep(0.27)
                self.process.resume()
                time.sleep(0.03)


@pytest.mark.usefixtures("in_threads")
def test_a_stopped_run_keeps_what_it_received(tmp_path: Path) -> None:
    folder = new_run(tmp_path / "run")

    def stop() -> None:
        raise Stopped

    train(folder, Disturbance(3, stop))
    assert not actors()
    before = folder.load_weights().header.step
    folder = RunFolder(folder.path)
    train(folder, lambda progress: None)
    check_rows(folder)
    assert folder.load_weights().header.step > before


@pytest.mark.usefixtures("in_threads")
def test_a_run_stopped_within_an_iteration_plays_other_games_next(tmp_path: Path) -> None:
    more = ["run.actors=1", "run.moves=400", "learning.reuse=0.001"]
    folder = new_run(tmp_path / "run", *more)

    def stop(progress: Progress) -> None:
        if progress.games:
            raise Stopped

    for _ in range(2):
        train(RunFolder(folder.path), stop)
    paths = sorted((folder.path / "replay").glob("*.safetensors"))
    first, second = (read_shard(path, game=folder.game) for path in paths[:2])
    assert first.states[:100].tobytes() != second.states[:100].tobytes()


@pytest.mark.usefixtures("in_threads")
def test_games_of_an_interrupted_iteration_are_recorded(tmp_path: Path) -> None:
    folder = new_run(tmp_path / "run", "run.moves=400", "learning.reuse=0.001")

    def stop(progress: Progress) -> None:
        if progress.games:
            raise Stopped

    for _ in range(2):
        train(RunFolder(folder.path), stop)
    recorded, reached = lines(folder, "iteration"), Checkpoint.load(folder.path)
    assert reached is not None
    assert [line["iteration"] for line in recorded] == [1, 2] and reached.position.iteration == 2
    assert recorded[-1]["window"]["rows_made"] == reached.position.rows_made
    shards = (folder.path / "replay").glob("*.safetensors")
    games = sum(len(list(games_in(read_shard(path, game=folder.game)))) for path in shards)
    assert sum(line["selfplay"]["games"] for line in recorded) == games > 0


@pytest.mark.usefixtures("in_threads")
def test_updates_of_trainers_that_are_stopped_are_made_once(tmp_path: Path) -> None:
    trainers = ["learning.method=distributed", "learning.workers=1", "learning.reuse=20"]
    folder = new_run(tmp_path / "run", *trainers, "run.checkpoint_every=100")
    shown: Counter[int] = Counter()

    def stop_within_second_request(progress: Progress) -> None:
        shown[progress.games] += progress.phase == "learning" and progress.learned is not None
        if shown[progress.games] > 3:
            raise Stopped

    train(folder, stop_within_second_request)
    reached = Checkpoint.load(folder.path)
    assert reached is not None
    updates = int(reached.learner["updates"].item())
    assert updates > 0
    assert 32 * updates + reached.position.rows_owed == 20 * reached.position.rows_made


@pytest.mark.usefixtures("in_threads")
def test_the_last_net_is_measured_though_another_measurement_was_under_way(tmp_path: Path) -> None:
    slow = ["run.strength_every=2", "run.strength_simulations=60", "run.moves=1"]
    folder = new_run(tmp_path / "run", *slow)
    train(folder, lambda progress: None)
    assert lines(folder, "strength")[-1]["iteration"] == 6


@pytest.mark.usefixtures("in_threads")
def test_a_run_may_change_between_one_process_and_many(tmp_path: Path) -> None:
    folder = new_run(tmp_path / "run", "run.actors=0", "run.iterations=2")
    train(folder, lambda progress: None)
    for number, actors_wanted in ((4, 2), (6, 0)):
        config = apply(folder.config, [f"run.iterations={number}", f"run.actors={actors_wanted}"])
        folder.change(config)
        train(folder, lambda progress: None)
    assert [line["iteration"] for line in lines(folder, "iteration")] == [1, 2, 3, 4, 5, 6]


def test_a_killed_coordinator_leaves_no_orphans_and_resumes(tmp_path: Path) -> None:
    source = str(Path(rookery.__file__).parents[1])
    environment = os.environ | {"PYTHONPATH": source}
    path = tmp_path / "run"
    options = [word for setting in SMALL for word in ("--set", setting)]
    command = [sys.executable, "-m", "rookery", "train", "tictactoe", "--run", str(path)]
    command += [*options, "--set", "run.iterations=500"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 120
        while not (path / "checkpoint.safetensors").exists():
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.1)
        workers = psutil.Process(process.pid).children(recursive=True)
        os.kill(process.pid, signal.SIGKILL)
    _, alive = psutil.wait_procs(workers, timeout=60.0)
    assert not alive
    folder = RunFolder(path)
    reached = max(line["iteration"] for line in Stats(path).lines())
    folder.change(apply(folder.config, [f"run.iterations={reached + 2}"]))
    train(folder, lambda progress: None)
    assert lines(folder, "finished")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    mounting = ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(place)]
    if not shutil.which("mount") or subprocess.run(mounting, capture_output=True).returncode:
        pytest.skip("a small disk cannot be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.usefixtures("in_threads")
def test_a_full_disk_ends_the_run_which_goes_on_once_there_is_room(small_disk: Path) -> None:
    folder = new_run(small_disk / "run", "replay.window_min=60000", "run.iterations=500")
    with pytest.raises(DiskFull, match="no room left to write"):
        train(folder, lambda progress: None)
    assert not actors()
    size = ["mount", "-o", "remount,size=8m", str(small_disk)]
    subprocess.run(size, check=True)
    folder = RunFolder(folder.path)
    reached = max(line["iteration"] for line in Stats(folder.path).lines())
    folder.change(apply(folder.config, [f"run.iterations={reached + 3}"]))
    train(folder, lambda progress: None)
    check_rows(folder)
