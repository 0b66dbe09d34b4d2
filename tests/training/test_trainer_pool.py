"""Trainers that are lost, hang or throw: what is learned is what one learner would have learned.

The batches of a run do not depend on who learns them. So a team that lost trainers all the time
must end where a single learner ends that was never disturbed.
"""

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from apart import apart
from faulty_trainers import (
    CONFIG,
    Accidental,
    Hopeless,
    Outdated,
    new_team,
    processes,
    window,
)
from rank_processes import learn_alone, new_learner
from rookery.learning import GroupFailed, Learner, LearningDiverged
from rookery.replay import Window
from rookery.training import Progress, RunFolder, Stats, apply, recipe_for, train
from rookery.training.store.checkpoint import Checkpoint
from rookery.training.trainers.pool import TrainerPool
from rookery.workers import WorkerEvent, WorkersLost

UPDATES = 60


@contextmanager
def team_of(
    size: int, config=CONFIG, kind: type[TrainerPool] = TrainerPool
) -> Iterator[tuple[TrainerPool, list[WorkerEvent]]]:
    team, events = new_team(size, config, kind)
    try:
        yield team, events
    finally:
        team.close()
    assert not processes()  # no orphans


def until_all_have_joined(team: TrainerPool, size: int, rows: Window) -> None:
    while len(team.learn(rows, 1, progress=0.2).ranks) < size:
        time.sleep(0.2)


def distance_from_undisturbed(team: TrainerPool, rows: Window, config=CONFIG) -> float:
    """After sixty updates, or as many as were made already."""
    goal = max(UPDATES, team.updates)
    if team.updates < goal:
        team.learn(rows, goal - team.updates, progress=0.2)
    state = team.state()
    assert state["updates"] == team.updates == goal
    return apart(learn_alone(config, goal).state(), state)


def test_a_killed_trainer_is_replaced_and_changes_nothing() -> None:
    with team_of(3) as (team, events):
        rows = window()
        until_all_have_joined(team, 3, rows)
        processes()[0].kill()  # the lead
        begin = time.perf_counter()
        report = team.learn(rows, 1, progress=0.2)
        assert time.perf_counter() - begin < 10
        assert len(report.ranks) == 2
        until_all_have_joined(team, 3, rows)
        assert distance_from_undisturbed(team, rows) < 2e-3
        assert ["killed by SIGKILL" in event.what for event in events] == [True]


def test_a_hung_trainer_is_given_up_within_its_limit() -> None:
    with team_of(2) as (team, events):
        rows = window()
        until_all_have_joined(team, 2, rows)
        processes()[1].send_signal(signal.SIGSTOP)
        begin = time.perf_counter()
        team.learn(rows, 1, progress=0.2)
        assert 2 < time.perf_counter() - begin < 10
        assert "silent for 4 s" in events[0].what
        assert distance_from_undisturbed(team, rows) < 2e-3


def test_all_are_lost_and_the_last_state_is_taken_up() -> None:
    with team_of(2, replace(CONFIG, checkpoint_every=5)) as (team, _):
        rows = window()
        team.learn(rows, 20, progress=0.2)
        for process in processes():
            process.kill()
        assert distance_from_undisturbed(team, rows) < 2e-3


def test_a_server_takes_the_moments_with_it() -> None:
    config = replace(CONFIG, synchronise="parameter_server", checkpoint_every=5)
    with team_of(2, config) as (team, _):
        rows = window()
        until_all_have_joined(team, 2, rows)
        team.learn(rows, 10, progress=0.2)
        processes()[0].kill()
        assert distance_from_undisturbed(team, rows) < 2e-3


CUT = replace(CONFIG, method="pipeline", accumulate=2, checkpoint_every=8)


def test_a_net_that_is_cut_learns_what_a_whole_one_learns() -> None:
    with team_of(3, CUT) as (team, events):
        rows = window()
        assert [rank.rows for rank in team.learn(rows, 20, progress=0.2).ranks] == [20 * 16] * 3
        assert play_weights_apart(learn_alone(CUT, 20).play_net, team.play_net) < 2e-3
        assert distance_from_undisturbed(team, rows, CUT) < 2e-3
        assert not events


def play_weights_apart(one: torch.nn.Module, other: torch.nn.Module) -> float:
    """The distance of their weights, in units of the way that the first has come."""
    start = new_learner(Learner, CUT).play_net
    ours, theirs, first = (
        torch.cat([weight.flatten() for weight in net.parameters()]) for net in (one, other, start)
    )
    return float((ours - theirs).norm() / (ours - first).norm())


@pytest.mark.parametrize("rank", [0, 1])
def test_a_part_that_is_lost_is_learned_again_from_the_last_state(rank: int) -> None:
    calls: list[int] = []

    def kill_while_it_learns() -> None:
        calls.append(team.updates)
        if len(calls) == 20:
            processes()[rank].kill()

    with team_of(2, CUT) as (team, events):
        rows = window()
        team.learn(rows, 10, progress=0.2)
        report = team.learn(rows, 40, progress=0.2, check=kill_while_it_learns)
        assert (report.updates, len(report.ranks)) == (40, 2)
        assert distance_from_undisturbed(team, rows, CUT) < 2e-3
        assert ["killed by SIGKILL" in event.what for event in events] == [True]


def test_a_part_that_is_lost_before_it_was_told_is_learned_again() -> None:
    with team_of(2, replace(CUT, checkpoint_every=100)) as (team, _):
        rows = window()
        team.learn(rows, 12, progress=0.2)
        processes()[1].kill()
        state = team.state()
        assert state["updates"] == team.updates == 12
        assert apart(learn_alone(CUT, 12).state(), state) < 2e-3


def test_accidents_all_the_time_change_nothing() -> None:
    with team_of(2, kind=Accidental) as (team, events):
        rows = window()
        assert distance_from_undisturbed(team, rows) < 2e-3
        assert any("on purpose" in event.what for event in events)


def test_a_team_that_gets_nowhere_ends_with_a_reason() -> None:
    with (
        team_of(1, kind=Hopeless) as (team, _),
        pytest.raises((WorkersLost, GroupFailed), match="on purpose"),
    ):
        team.learn(window(), 5, progress=0.2)


def test_trainers_of_another_version_are_dismissed() -> None:
    with (
        team_of(1, kind=Outdated) as (team, _),
        pytest.raises(WorkersLost, match=r"runs rookery 0\.0\.1"),
    ):
        team.learn(window(), 5, progress=0.2)


def test_numbers_that_are_none_end_the_run() -> None:
    with (
        team_of(1, replace(CONFIG, learning_rate=1e30, clip_norm=1e30)) as (team, _),
        pytest.raises(LearningDiverged, match="lower learning"),
    ):
        team.learn(window(), 30, progress=0.2)


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


CUT_RUN = ["learning.method=pipeline", "learning.accumulate=2"]


@pytest.mark.parametrize("more", [[], ["run.actors=1"], CUT_RUN])
def test_a_run_goes_on_when_a_trainer_is_killed_and_resumes(
    tmp_path: Path, more: list[str]
) -> None:
    config = apply(recipe_for("tictactoe"), [*SMALL, *more])
    folder = RunFolder.create(tmp_path / "run", config)
    killed: list[int] = []

    def kill(moment: Progress) -> None:
        if moment.iteration == 2 and not killed:
            killed.append(processes()[0].pid)  # trainers are started before actors
            processes()[0].kill()

    train(folder, kill)
    folder.change(apply(config, ["run.iterations=6"]))
    train(folder, lambda moment: None)
    done = lines(folder, "iteration")
    assert [line["iteration"] for line in done] == list(range(1, 7))
    learned = [line["learning"] for line in done if line["learning"]]
    assert all(report["ranks"] for report in learned)
    rows = sum(report["rows"] for report in learned)
    made = done[-1]["window"]["rows_made"]
    most_due = 1 + 4 * 16 * 5 // 32  # run.max_lag: an iteration's, and rows for less than one
    assert rows == pytest.approx(4 * made, abs=32 * (most_due if config.run.has_actors() else 1))
    notes = [line["note"] for line in lines(folder, "note")]
    how = "holding one part of the network each" if more == CUT_RUN else "sharing every batch"
    assert sum(f"2 trainers {how}: 32 rows" in note for note in notes) == 2
    assert sum("killed by SIGKILL" in note for note in notes) == 1
    assert not processes()


def test_a_run_with_a_cut_net_is_the_run_of_a_single_learner(tmp_path: Path) -> None:
    states = []
    for method in ("single", "pipeline"):
        config = apply(recipe_for("tictactoe"), [*SMALL, *CUT_RUN, f"learning.method={method}"])
        folder = RunFolder.create(tmp_path / method, config)
        train(folder, lambda moment: None)
        kept = Checkpoint.load(folder.path)
        assert kept is not None
        states.append(kept.learner)
    alone, cut = states
    assert alone["updates"] == cut["updates"] > 20
    assert alone.keys() == cut.keys()
    assert max(np.abs(alone[name] - cut[name]).max() for name in alone) < 1e-3
