"""A run and a match whose workers run on a Ray of this machine."""

import os
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import psutil
import pytest

from rookery.arena import MatchPlan
from rookery.games import load_game
from rookery.replay import count, read_shard
from rookery.training import (
    PlayerSpec,
    Progress,
    RunFolder,
    Stats,
    Stopped,
    Study,
    TrialPool,
    TrialResult,
    apply,
    play_match_over,
    read_space,
    recipe_for,
    train,
    write_request,
)

pytestmark = pytest.mark.cluster

SMALL = [
    "run.cluster=local",
    "run.actors=2",
    "run.iterations=8",
    "run.moves=5",
    "run.checkpoint_every=2",
    "run.strength_every=4",
    "run.strength_simulations=2",
    "run.inference=float32",
    "net.width=8",
    "net.depth=1",
    "selfplay.games=16",
    "selfplay.simulations=3",
    "replay.window_min=20000",
    "learning.batch_size=32",
    "learning.reuse=2",
    "learning.precision=float32",
]


@pytest.fixture(autouse=True)
def two_cpus(monkeypatch: pytest.MonkeyPatch) -> None:
    source = Path(__file__).parents[2] / "src"
    monkeypatch.setenv("PYTHONPATH", str(source), prepend=os.pathsep)
    monkeypatch.setenv("RAY_OVERRIDE_RESOURCES", '{"CPU": 2}')


def lines(folder: RunFolder, kind: str) -> list[dict[str, Any]]:
    return [line for line in Stats(folder.path).lines() if line["kind"] == kind]


@pytest.mark.slow
def test_a_run_continues_when_an_actor_is_killed(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", apply(recipe_for("tictactoe"), SMALL))
    killed: list[psutil.Process] = []

    def watch(progress: Progress) -> None:
        if progress.iteration == 2 and not killed:
            below = psutil.Process().children(recursive=True)
            killed.append(next(each for each in below if each.name().startswith("ray::Host")))
            killed[0].kill()

    before = set(psutil.Process().children(recursive=True))
    train(folder, watch)
    notes = [line["note"] for line in lines(folder, "note")]
    assert len(notes) == 1 and "was lost: " in notes[0] and "restarting in" in notes[0]
    assert [line["iteration"] for line in lines(folder, "strength")] == [4, 8]
    shards = [read_shard(path, game=folder.game) for path in (tmp_path / "run/replay").iterdir()]
    assert sum(map(count, shards)) == lines(folder, "iteration")[-1]["window"]["rows_made"]
    left = set(psutil.Process().children(recursive=True)) - before
    assert not psutil.wait_procs(left, timeout=10.0)[1]


def test_trainers_learn_together_in_a_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_OVERRIDE_RESOURCES", '{"CPU": 3}')
    trainers = ["run.actors=1", "learning.method=distributed", "learning.workers=2"]
    config = apply(recipe_for("tictactoe"), [*SMALL, *trainers, "run.strength_every=0"])
    folder = RunFolder.create(tmp_path / "run", config)
    train(folder, lambda progress: None)
    done = lines(folder, "iteration")
    assert len(done) == 8
    ranks = [rank for line in done if line["learning"] for rank in line["learning"]["ranks"]]
    assert {rank["name"] for rank in ranks} == {"trainer 0", "trainer 1"}


@pytest.mark.slow
def test_a_match_in_a_cluster_has_the_result_of_a_local_one() -> None:
    rules = load_game("tictactoe")
    a, b = PlayerSpec("plain", name="minimax:2"), PlayerSpec("plain", name="random")
    plan = MatchPlan(80, 3, 2)
    there = play_match_over(rules, plan, a, b, workers=None, on_note=print, cluster="local")
    here = play_match_over(rules, plan, a, b, workers=0, on_note=print)
    assert there == here


@pytest.mark.slow
def test_workers_join_and_leave_in_a_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_OVERRIDE_RESOURCES", '{"CPU": 4}')
    trainers = ["run.actors=1", "learning.method=distributed", "learning.workers=1"]
    endless = ["run.strength_every=0", "run.iterations=0", "run.minutes=10"]
    config = apply(recipe_for("tictactoe"), [*SMALL, *trainers, *endless])
    folder = RunFolder.create(tmp_path / "run", config)
    asked: list[str] = []

    def ask(progress: Progress) -> None:
        done = lines(folder, "iteration")
        trainers = len(progress.learned.worked) if progress.learned else 0
        actors = len(done[-1]["actors"]["workers"]) if done else 0
        if not asked and progress.iteration >= 2:
            asked.append(write_request(folder.path, ["run.actors=2", "learning.workers=2"]).stem)
        elif len(asked) == 1 and actors == trainers == 2:
            asked.append(write_request(folder.path, ["run.actors=1", "learning.workers=1"]).stem)
        elif len(asked) == 2 and actors == trainers == 1:
            raise Stopped

    train(folder, ask)
    answers = lines(folder, "scaled")
    assert [line["request"] for line in answers] == asked
    assert [line["trainers"]["size"] for line in answers] == [2, 1]
    assert (RunFolder(folder.path).config.run.actors, len(asked)) == ("1", 2)
    assert not [line for line in lines(folder, "note") if "restarting" in line["note"]]


@pytest.mark.slow
def test_trials_run_side_by_side_in_a_cluster(tmp_path: Path) -> None:
    few = [*SMALL, "run.actors=0", "run.iterations=2", "run.strength_every=1", "run.minutes=0"]
    config = apply(recipe_for("tictactoe"), few)
    space = read_space(["learning.learning_rate=1e-4..1e-2:log"], config)
    results: list[TrialResult] = []
    deadline = time.monotonic() + 200
    with (
        Study(tmp_path / "study", config, space) as study,
        closing(TrialPool(study, 2, on_note=pytest.fail)) as pool,
    ):
        while len(results) < 3 and time.monotonic() < deadline:
            results += [event for event in pool.poll(3) if isinstance(event, TrialResult)]
            time.sleep(0.05)
    assert [each.is_finished and each.errors is not None for each in results] == [True] * 3
