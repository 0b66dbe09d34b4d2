"""Trainers that are killed, hang or fail: the pool learns what a single learner would learn.

The batches of a run do not depend on who learns them. So a pool that loses trainers must end with
the weights of a single learner.
"""

import signal
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from apart import apart
from faulty_trainers import (
    CONFIG,
    IMPATIENT,
    HangingPool,
    HeldPool,
    HopelessPool,
    OutdatedPool,
    ShortOfMemory,
    ShortOfMemoryPool,
    UnreliablePool,
    new_pool,
    window,
)
from rank_processes import learn_alone, new_learner
from rookery.learning import (
    GroupFailed,
    Learner,
    LearningConfig,
    LearningDiverged,
    LearnReport,
    RankLearner,
)
from rookery.nets import NetConfig
from rookery.replay import ReplayConfig, Window, shard_path, write_shard
from rookery.training import (
    Config,
    Progress,
    RunConfig,
    RunFolder,
    Stats,
    apply,
    recipe_for,
    train,
)
from rookery.training.config import to_json
from rookery.training.store.checkpoint import Checkpoint
from rookery.training.trainers import messages, trainer
from rookery.training.trainers.pool import TrainerPool
from rookery.workers import WorkerEvent, WorkersLost
from worker_processes import worker_processes

UPDATES = 60


@contextmanager
def running(
    size: int,
    config: LearningConfig = CONFIG,
    kind: type[TrainerPool] = TrainerPool,
    **more: Any,
) -> Iterator[tuple[TrainerPool, list[WorkerEvent]]]:
    pool, events = new_pool(size, config, kind, **more)
    try:
        yield pool, events
    finally:
        pool.close()
    assert not worker_processes()


def until_all_have_joined(pool: TrainerPool, size: int, rows: Window) -> None:
    while len(pool.learn(rows, 1, progress=0.2).worked) < size:
        time.sleep(0.2)


def distance_from_undisturbed(
    pool: TrainerPool, rows: Window, config: LearningConfig = CONFIG
) -> float:
    """The distance from a single learner, after 60 updates or all that have been made."""
    goal = max(UPDATES, pool.updates)
    if pool.updates < goal:
        pool.learn(rows, goal - pool.updates, progress=0.2)
    state = pool.state()
    assert state["updates"] == pool.updates == goal
    return apart(learn_alone(config, goal).state(), state)


@pytest.fixture
def may_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file without which no trainer of a HeldPool starts; it exists."""
    path = tmp_path / "may-start"
    path.touch()
    monkeypatch.setenv("MAY_START", str(path))
    return path


def test_a_killed_trainer_is_replaced_and_the_result_is_the_same(may_start: Path) -> None:
    with running(3, kind=HeldPool) as (pool, events):
        rows = window()
        until_all_have_joined(pool, 3, rows)
        may_start.unlink()
        worker_processes()[0].kill()  # the root
        begin = time.perf_counter()
        report = pool.learn(rows, 1, progress=0.2)
        assert time.perf_counter() - begin < CONFIG.silence_seconds / 2  # noticed at once
        assert len(report.worked) == 2
        lost, total = report.ranks[0], report.total
        assert (lost.state, lost.fallback, lost.failures) in [
            ("failed", True, 1),
            ("starting", True, 1),
        ]
        assert total is not None and total.fallback and total.state == "2 of 3"
        may_start.touch()
        until_all_have_joined(pool, 3, rows)
        back = pool.learn(rows, 1, progress=0.2)
        assert [(rank.state, rank.restarts) for rank in back.ranks] == [
            ("healthy", 1),
            ("healthy", 0),
            ("healthy", 0),
        ]
        check_figures(back, pool.updates)
        assert distance_from_undisturbed(pool, rows) < 2e-3
        assert ["killed by SIGKILL" in event.what for event in events] == [True]


def test_two_trainers_with_scaling_learn_what_one_learns_with_larger_batches() -> None:
    config = replace(CONFIG, scaling="linear")
    alone = replace(CONFIG, batch_size=2 * CONFIG.batch_size, learning_rate=2e-4)
    with running(2, config) as (pool, _):
        rows = window()
        until_all_have_joined(pool, 2, rows)
        report = pool.learn(rows, 20, progress=0.2)
        assert (report.rows, pool.config.batch_size) == (20 * 96, 96)
        assert "from 48 to 96 rows per update" in pool.describe()
        assert "peak learning rate from 0.0001 to 0.0002" in pool.describe()
        assert distance_from_undisturbed(pool, rows, alone) < 2e-3


def check_figures(report: LearnReport, updates: int) -> None:
    """Check the figures of three trainers of which the first was replaced."""
    total = report.total
    assert total is not None and not total.fallback and total.state == "3 of 3"
    assert total.samples == sum(rank.samples for rank in report.ranks) == updates * 48
    assert max(rank.total_updates for rank in report.ranks) == total.total_updates <= updates
    assert 0 < total.efficiency < 1.5
    for rank in report.ranks:
        assert 0 < rank.samples < updates * 48 and rank.total_updates <= updates
        assert rank.batch_ms > 0 and rank.sync_ms > 0 and 0 < rank.efficiency <= 1
        assert rank.sent_mb > 0 and rank.received_mb > 0
        assert rank.memory_mb > 50 and rank.device_mb == 0
        assert 0 <= rank.heartbeat_age < CONFIG.silence_seconds


@pytest.mark.slow
def test_a_hung_trainer_is_replaced_after_its_time_limit() -> None:
    with running(2, IMPATIENT) as (pool, events):
        rows = window()
        until_all_have_joined(pool, 2, rows)
        worker_processes()[1].send_signal(signal.SIGSTOP)
        begin = time.perf_counter()
        pool.learn(rows, 1, progress=0.2)
        assert 2 < time.perf_counter() - begin < 10
        assert "was silent for 4 s" in events[0].what
        assert distance_from_undisturbed(pool, rows) < 2e-3


@pytest.mark.slow
def test_a_pool_that_loses_all_trainers_continues_from_the_last_state() -> None:
    with running(2, replace(CONFIG, checkpoint_every=5)) as (pool, _):
        rows = window()
        pool.learn(rows, 20, progress=0.2)
        for process in worker_processes():
            process.kill()
        assert distance_from_undisturbed(pool, rows) < 2e-3


@pytest.mark.slow
def test_a_lost_parameter_server_is_replaced_from_the_last_state() -> None:
    config = replace(CONFIG, synchronise="parameter_server", checkpoint_every=5)
    with running(2, config) as (pool, _):
        rows = window()
        until_all_have_joined(pool, 2, rows)
        pool.learn(rows, 10, progress=0.2)
        worker_processes()[0].kill()
        assert distance_from_undisturbed(pool, rows) < 2e-3


SPLIT = ReplayConfig(sharding="split")


def test_the_part_of_a_killed_trainer_comes_back_from_the_run_folder(
    tmp_path: Path, may_start: Path
) -> None:
    rows, path = window(), partial(shard_path, tmp_path)
    write_shard(path(0), rows.newest(len(rows)), game=rows.game)
    with running(3, kind=HeldPool, replay=SPLIT, shard_path=path) as (pool, events):
        until_all_have_joined(pool, 3, rows)
        assert rows_held(pool.learn(rows, 1, progress=0.2)) == [133, 133, 134]
        assert "each holds its part of the replay window" in pool.describe()
        may_start.unlink()
        worker_processes()[1].kill()
        found = rows_held(pool.learn(rows, 1, progress=0.2))
        assert found == [0, 199, 201], [str(event) for event in events]
        may_start.touch()
        until_all_have_joined(pool, 3, rows)
        assert rows_held(pool.learn(rows, 1, progress=0.2)) == [133, 133, 134]
        assert distance_from_undisturbed(pool, rows) < 2e-3


def rows_held(report: LearnReport) -> list[int]:
    """Return how many of the 400 rows each trainer holds, the smallest number first."""
    assert report.total is not None and report.total.rows_held == 400
    return sorted(rank.rows_held for rank in report.ranks)


@pytest.mark.parametrize("error", [GroupFailed, LearningDiverged, torch.OutOfMemoryError])
def test_a_trainer_leaves_its_group_when_the_error_no_longer_holds_it(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Torch's groups deadlock now and then if they are freed with the error."""
    settings = Config("connect4", "test", learning=CONFIG, net=NetConfig(width=8, depth=1))
    failing = trainer.Trainer(trainer.TrainerJob(to_json(settings), "", "cpu"))
    held: list[weakref.ref[Any]] = []

    def fail(self: Learner, *args: Any, **more: Any) -> None:
        used = nn.Linear(1, 1)
        held.append(weakref.ref(used))
        raise error("on purpose")

    def leave(self: Learner) -> None:
        assert held[-1]() is None

    monkeypatch.setattr(RankLearner, "learn_until", fail)
    monkeypatch.setattr(RankLearner, "leave", leave)
    request = messages.LearnUntil(trainer.NO_GROUP, goal=1, progress=0.0, learning_rate=1e-3)
    assert isinstance(failing.reply(request), messages.GroupBroken | messages.Diverged)
    assert held


@pytest.mark.usefixtures("in_threads")
def test_parts_are_sent_to_trainers_that_cannot_read_the_run_folder() -> None:
    rows, more = window(), window()
    with running(1, replay=SPLIT) as (pool, _):
        assert pool.learn(rows, 2, progress=0.2).ranks[0].rows_held == 400
        rows.add(more.newest(30))
        assert pool.learn(rows, 2, progress=0.2).ranks[0].rows_held == 430


@pytest.mark.usefixtures("in_threads")
def test_a_missing_shard_ends_with_its_name(tmp_path: Path) -> None:
    run = RunConfig(seed=7, restarts=0)
    path = partial(shard_path, tmp_path)
    with (
        running(1, replay=SPLIT, run=run, shard_path=path) as (pool, _),
        pytest.raises(WorkersLost, match=r"000000\.safetensors"),
    ):
        pool.learn(window(), 2, progress=0.2)


PIPELINE = replace(CONFIG, method="pipeline", accumulate=2, checkpoint_every=8)


def test_a_pipeline_learns_what_a_single_learner_learns() -> None:
    with running(3, PIPELINE) as (pool, events):
        rows = window()
        assert [rank.rows for rank in pool.learn(rows, 20, progress=0.2).ranks] == [20 * 16] * 3
        assert play_weights_apart(learn_alone(PIPELINE, 20).play_net, pool.play_net) < 2e-3
        assert distance_from_undisturbed(pool, rows, PIPELINE) < 2e-3
        assert not events


def play_weights_apart(one: torch.nn.Module, other: torch.nn.Module) -> float:
    """The distance of their weights, relative to the distance that the first one has moved."""
    start = new_learner(Learner, PIPELINE).play_net
    ours, theirs, first = (
        torch.cat([weight.flatten() for weight in net.parameters()]) for net in (one, other, start)
    )
    return float((ours - theirs).norm() / (ours - first).norm())


@pytest.mark.parametrize("rank", [pytest.param(0, marks=pytest.mark.slow), 1])
def test_a_pipeline_that_loses_a_part_continues_from_the_last_state(rank: int) -> None:
    calls: list[int] = []

    def kill_while_it_learns() -> None:
        calls.append(pool.updates)
        if len(calls) == 20:
            worker_processes()[rank].kill()

    with running(2, PIPELINE) as (pool, events):
        rows = window()
        pool.learn(rows, 10, progress=0.2)
        report = pool.learn(rows, 40, progress=0.2, check=kill_while_it_learns)
        assert (report.updates, len(report.worked)) == (40, 2)
        assert distance_from_undisturbed(pool, rows, PIPELINE) < 2e-3
        assert ["killed by SIGKILL" in event.what for event in events] == [True]


@pytest.mark.slow
def test_a_pipeline_that_loses_a_part_before_its_state_was_sent_learns_it_again() -> None:
    with running(2, replace(PIPELINE, checkpoint_every=100)) as (pool, _):
        rows = window()
        pool.learn(rows, 12, progress=0.2)
        worker_processes()[1].kill()
        state = pool.state()
        assert state["updates"] == pool.updates == 12
        assert apart(learn_alone(PIPELINE, 12).state(), state) < 2e-3


def test_a_trainer_that_hangs_with_a_beating_heart_is_replaced(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HANG_ONCE", str(tmp_path / "hung"))
    monkeypatch.setattr("rookery.training.trainers.pace.ANSWER_SECONDS", 16.0)
    monkeypatch.setattr("rookery.training.trainers.pace.PATIENCE", 2.0)
    with running(2, replace(CONFIG, silence_seconds=8.0), HangingPool) as (pool, events):
        rows = window()
        until_all_have_joined(pool, 2, rows)
        assert distance_from_undisturbed(pool, rows) < 2e-3
        found = [str(event) for event in events]
        assert sum("has not answered for " in event for event in found) == 1, found


@pytest.mark.slow
def test_frequent_failures_do_not_change_the_result() -> None:
    with running(2, kind=UnreliablePool) as (pool, events):
        rows = window()
        assert distance_from_undisturbed(pool, rows) < 2e-3
        assert any("on purpose" in event.what for event in events)


@pytest.fixture
def restored_trainer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Undo what trainers that fail on purpose change in this process."""
    for name in ("__version__", "RankLearner"):
        monkeypatch.setattr(trainer, name, getattr(trainer, name))


@pytest.mark.usefixtures("in_threads", "restored_trainer")
def test_a_batch_that_does_not_fit_into_memory_is_computed_in_parts() -> None:
    with running(1, kind=ShortOfMemoryPool) as (pool, events):
        told: list[int] = []
        pool._on_smaller_parts = lambda config: told.append(config.accumulate)
        report = pool.learn(window(), 5, progress=0.2)
        assert (report.updates, pool.updates) == (5, 5)
        assert told == [2, 4] and pool.config.accumulate == 4
        assert not events


@pytest.mark.usefixtures("in_threads", "restored_trainer")
def test_a_batch_that_cannot_be_split_any_further_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ShortOfMemory, "max_rows", 0)
    with (
        running(1, kind=ShortOfMemoryPool) as (pool, _),
        pytest.raises(GroupFailed, match="does not fit into the trainers' memory"),
    ):
        pool.learn(window(), 5, progress=0.2)


@pytest.mark.usefixtures("in_threads", "restored_trainer")
def test_a_pool_that_makes_no_update_ends_with_a_reason() -> None:
    with (
        running(1, kind=HopelessPool) as (pool, _),
        pytest.raises((WorkersLost, GroupFailed), match="on purpose"),
    ):
        pool.learn(window(), 5, progress=0.2)


@pytest.mark.usefixtures("in_threads", "restored_trainer")
def test_the_number_of_restarts_is_a_setting() -> None:
    run = RunConfig(seed=7, restarts=1, restart_minutes=10.0)
    with running(1, kind=HopelessPool, run=run) as (pool, events):
        with pytest.raises(WorkersLost, match="no trainer is left"):
            pool.learn(window(), 5, progress=0.2)
        assert [event.done for event in events] == [
            "restarting in 0.1 s",
            "dropped after 2 failures",
        ]


@pytest.mark.usefixtures("in_threads", "restored_trainer")
def test_trainers_of_another_version_are_dropped() -> None:
    with (
        running(1, kind=OutdatedPool) as (pool, _),
        pytest.raises(WorkersLost, match=r"runs Rookery 0\.0\.1"),
    ):
        pool.learn(window(), 5, progress=0.2)


@pytest.mark.usefixtures("in_threads", "restored_trainer")
def test_losses_that_are_not_finite_end_the_run() -> None:
    with (
        running(1, replace(CONFIG, learning_rate=1e6, clip_norm=1e9)) as (pool, _),
        pytest.raises(LearningDiverged, match="lower learning"),
    ):
        pool.learn(window(), 30, progress=0.2)


SMALL = [
    "run.iterations=4",
    "run.minutes=0",
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
    "learning.reuse=4",
    "learning.precision=float32",
    "learning.method=distributed",
    "learning.workers=2",
]


def lines(folder: RunFolder, kind: str) -> list[dict[str, Any]]:
    return [line for line in Stats(folder.path).lines() if line["kind"] == kind]


PIPELINE_RUN = ["learning.method=pipeline", "learning.accumulate=2"]


@pytest.mark.parametrize(
    "more",
    [
        pytest.param([], marks=pytest.mark.slow),
        ["run.actors=1"],
        pytest.param(PIPELINE_RUN, marks=pytest.mark.slow),
    ],
)
def test_a_run_goes_on_when_a_trainer_is_killed_and_resumes(
    tmp_path: Path, more: list[str]
) -> None:
    config = apply(recipe_for("tictactoe"), [*SMALL, *more])
    folder = RunFolder.create(tmp_path / "run", config)
    killed: list[int] = []

    def kill(progress: Progress) -> None:
        if progress.iteration == 2 and not killed:
            killed.append(worker_processes()[0].pid)  # trainers start before actors
            worker_processes()[0].kill()

    train(folder, kill)
    folder.change(apply(config, ["run.iterations=6"]))
    train(folder, lambda progress: None)
    done = lines(folder, "iteration")
    assert [line["iteration"] for line in done] == list(range(1, 7))
    learned = [line["learning"] for line in done if line["learning"]]
    assert all(report["ranks"] for report in learned)
    rows = sum(report["rows"] for report in learned)
    made = done[-1]["window"]["rows_made"]
    most_due = 1 + 4 * 16 * 5 // 32  # run.max_lag: an iteration's, and rows for less than one
    assert rows == pytest.approx(4 * made, abs=32 * (most_due if config.run.has_actors() else 1))
    notes = [line["note"] for line in lines(folder, "note")]
    how = (
        "holding one part of the network each"
        if more == PIPELINE_RUN
        else "sharing every batch (DDP)"
    )
    assert sum(f"2 trainers {how}: 32 rows" in note for note in notes) == 2
    assert sum("killed by SIGKILL" in note for note in notes) == 1
    assert not worker_processes()


@pytest.mark.slow
def test_a_run_with_a_pipeline_is_the_run_of_a_single_learner(tmp_path: Path) -> None:
    states = []
    for method in ("single", "pipeline"):
        config = apply(
            recipe_for("tictactoe"), [*SMALL, *PIPELINE_RUN, f"learning.method={method}"]
        )
        folder = RunFolder.create(tmp_path / method, config)
        train(folder, lambda progress: None)
        kept = Checkpoint.load(folder.path)
        assert kept is not None
        states.append(kept.learner)
    alone, pipeline = states
    assert alone["updates"] == pipeline["updates"] > 20
    assert alone.keys() == pipeline.keys()
    assert max(np.abs(alone[name] - pipeline[name]).max() for name in alone) < 1e-3


def test_trainers_join_and_leave_and_the_result_is_the_same() -> None:
    with running(1) as (pool, events):
        rows, cpu = window(), (torch.device("cpu"),)
        pool.learn(rows, 5, progress=0.2)
        pool.scale(2, cpu)
        until_all_have_joined(pool, 2, rows)
        assert pool.count() == (2, 2)
        pool.scale(1, cpu)
        assert len(worker_processes()) == 1
        assert len(pool.learn(rows, 1, progress=0.2).worked) == 1
        assert distance_from_undisturbed(pool, rows) < 2e-3
        assert [str(event) for event in events] == [
            "trainer 1 joins: the run was scaled; added",
            "trainer 1 leaves: the run was scaled; retired",
        ]


@pytest.mark.slow
@pytest.mark.parametrize(
    "config", [replace(CONFIG, synchronise="parameter_server"), PIPELINE], ids=["server", "parts"]
)
def test_every_trainer_may_be_restarted_between_updates(
    config: LearningConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rookery.training.trainers.placement.available_cores", lambda: 4)
    with running(2, replace(config, checkpoint_every=1000)) as (pool, events):
        rows, cpu = window(), (torch.device("cpu"),)
        until_all_have_joined(pool, 2, rows)
        pool.learn(rows, 7, progress=0.2)
        made = pool.updates
        pool._placement = replace(pool._placement, threads=0)  # a share of the four cores
        pool.scale(3, cpu)
        assert pool.updates == made
        done = [event.done for event in events]
        assert done == ["restarted", "restarted", "added"], "all have fewer threads"
        until_all_have_joined(pool, 3, rows)
        assert distance_from_undisturbed(pool, rows, config) < 2e-3


@pytest.mark.slow
def test_the_batch_is_scaled_with_the_trainers() -> None:
    with running(1, replace(CONFIG, scaling="linear")) as (pool, events):
        rows = window()
        assert pool.learn(rows, 4, progress=0.2).rows == 4 * 48
        assert "48 rows per update, peak learning rate 0.0001" in pool.describe()
        pool.scale(2, (torch.device("cpu"),))
        assert pool.config.batch_size == 96
        assert "2 trainers sharing every batch (DDP): 96 rows per update" in pool.describe()
        assert pool.describe().endswith("peak learning rate 0.0002")
        until_all_have_joined(pool, 2, rows)
        report = pool.learn(rows, 4, progress=0.2)
        assert report.rows == sum(rank.rows for rank in report.ranks) == 4 * 96
        assert [event.done for event in events] == ["restarted", "added"]
