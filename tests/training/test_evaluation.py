"""Matches and strength tests by evaluation workers have the results of a single process."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import rookery
from disturbed import KilledAtFirstResult, fail_at_first_part
from own_rules import marked_rules
from random_messages import KNOWN, are_equal, messages
from rookery.arena import MatchPlan, MatchReport, PartResult, Strength
from rookery.base import ConfigError, RookeryError
from rookery.games import Game, load_game
from rookery.gpu import Parts
from rookery.nets import GameSpec, NetConfig, WeightsHeader, build_net
from rookery.nets import pack as pack_weights
from rookery.search import SearchConfig
from rookery.training import PlayerSpec, measure_over, play_match_over
from rookery.training.evaluation import pool as evaluation_pool
from rookery.training.evaluation.pool import EvaluationPool
from rookery.training.evaluation.queue import MAX_LOSSES, TaskQueue
from rookery.training.evaluation.tasks import (
    MatchTask,
    PartDone,
    PartRefused,
    RunPart,
    StrengthTask,
    Tasks,
    run_part,
    source_of,
)
from rookery.workers import Message, WorkersLost, pack, unpack
from worker_processes import worker_processes

TICTACTOE, CONNECT4 = load_game("tictactoe"), load_game("connect4")
PLAN = MatchPlan(games=96, seed=5, opening_plies=2)
MINIMAX = PlayerSpec("plain", name="minimax:2")


def tiny(rules: Game, simulations: int = 3) -> PlayerSpec:
    """A network of random weights; a new one would find all moves equally good."""
    torch.manual_seed(1)
    config = NetConfig(width=8, depth=1)
    net = build_net(config, rules.planes_shape, rules.num_actions)
    for weights in net.parameters():
        torch.nn.init.normal_(weights, std=0.3)
    fits = GameSpec(rules.name, rules.version, rules.planes_shape, rules.num_actions)
    payload = pack_weights(net.state_dict(), WeightsHeader(fits, config, step=0))
    return PlayerSpec(
        "net", name="tiny", simulations=simulations, weights=payload, inference="float32"
    )


def play(number: int, notes: list[str] | None = None) -> MatchReport:
    told: list[str] = [] if notes is None else notes
    return play_match_over(
        TICTACTOE, PLAN, tiny(TICTACTOE), MINIMAX, workers=number, on_note=told.append
    )


def measure(rules: Game, players: Sequence[PlayerSpec], number: int) -> list[Strength]:
    notes: list[str] = []
    measured = measure_over(rules, players, seed=1, workers=number, on_note=notes.append)
    assert not notes
    return measured


@pytest.fixture(scope="module")
def undisturbed() -> MatchReport:
    """The match, played in this process."""
    return play(0)


@pytest.fixture(autouse=True)
def no_orphans() -> Iterator[None]:
    """No worker outlives its pool."""
    yield
    assert not worker_processes()


def test_a_match_is_played_in_this_process(undisturbed: MatchReport) -> None:
    assert (undisturbed.a, undisturbed.b) == ("tiny", "minimax:2")
    assert undisturbed.total.games == 96 and PLAN.parts == 3
    assert undisturbed.distinct_games > 40
    assert min(undisturbed.total.wins, undisturbed.total.losses) > 0


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.usefixtures("in_threads")
def test_any_number_of_workers_plays_the_same_match(undisturbed: MatchReport, number: int) -> None:
    notes: list[str] = []
    assert play(number, notes) == undisturbed
    assert not notes


def test_killed_workers_are_replaced_and_the_result_is_the_same(
    undisturbed: MatchReport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluation_pool, "WorkerPool", KilledAtFirstResult)
    notes: list[str] = []
    assert play(2, notes) == undisturbed
    assert sorted(notes) == [
        f"evaluation worker {number} was killed by SIGKILL; restarting in 0.5 s"
        for number in (0, 1)
    ]


@pytest.mark.usefixtures("in_threads")
def test_workers_measure_every_position_of_a_tiny_game() -> None:
    players = [tiny(TICTACTOE, simulations) for simulations in (0, 2)]
    here = measure(TICTACTOE, players, 0)
    assert measure(TICTACTOE, players, 2) == here
    assert here[0] != here[1] and here[0].errors > 1


@pytest.mark.usefixtures("in_threads")
def test_workers_measure_positions_of_connect_four() -> None:
    players = [tiny(CONNECT4, simulations) for simulations in (0, 2)]
    here = measure(CONNECT4, players, 0)
    assert measure(CONNECT4, players, 3) == here
    assert here[0] != here[1] and here[0].errors > 1


def test_workers_find_the_rules_of_a_game_of_your_own(tmp_path: Path) -> None:
    path, _ = marked_rules(tmp_path)
    rules = load_game(str(path))
    assert rules.name == "mine" and source_of(rules) == str(path)
    players = [PlayerSpec("plain", name="random"), PlayerSpec("plain", name="minimax:1")]
    here = measure(rules, players, 0)
    assert measure(rules, players, 1) == here
    assert here[0].errors > here[1].errors > 0


@pytest.mark.usefixtures("in_threads")
def test_a_part_that_no_worker_survives_ends_the_match(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(evaluation_pool, "evaluation_worker", fail_at_first_part)
    notes: list[str] = []
    expected = "3 workers were lost with the same part; the last one failed: ValueError: this"
    with pytest.raises(RookeryError, match=expected) as error:
        play(1, notes)
    assert len(notes) == 3 and "\n" not in str(error.value)


@pytest.mark.usefixtures("in_threads")
def test_a_task_with_a_mistake_is_refused_once() -> None:
    notes: list[str] = []
    task = StrengthTask("tictactoe", PlayerSpec("plain", name="minimax:0"), seed=1)
    with pytest.raises(RookeryError, match="depth of minimax:0 is '0', expected"):
        evaluation_pool.evaluate([task], workers=1, on_note=notes.append)
    assert not notes


def test_a_player_that_cannot_play_starts_no_worker() -> None:
    def on_note(note: str) -> None:
        raise AssertionError(note)

    with pytest.raises(ConfigError, match="depth of minimax:0 is '0', expected"):
        play_match_over(
            TICTACTOE,
            PLAN,
            MINIMAX,
            PlayerSpec("plain", name="minimax:0"),
            workers=2,
            on_note=on_note,
        )


@pytest.mark.usefixtures("in_threads")
def test_a_worker_of_another_version_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rookery.workers.pool.__version__", "99.0")
    with pytest.raises(WorkersLost, match=f"runs Rookery {rookery.__version__}, expected 99.0"):
        play(1)


def test_tasks_arrive_as_they_were_sent_and_weights_travel_once() -> None:
    players = [tiny(TICTACTOE, simulations) for simulations in (0, 5)]
    match = MatchTask("tictactoe", PLAN, players[0], MINIMAX, digest="1")
    tasks = Tasks((*(StrengthTask("tictactoe", player, seed=1) for player in players), match))
    payload = pack(tasks)
    assert unpack(payload) == tasks
    assert len(players[0].weights) < len(payload) < 2 * len(players[0].weights)


KNOWN[MatchPlan] = st.builds(MatchPlan, st.sampled_from([2, 64]), st.integers(), st.integers())
KNOWN[SearchConfig] = st.builds(SearchConfig, prove=st.booleans())


@settings(deadline=None)
@given(st.sampled_from([Tasks, RunPart, PartDone, PartRefused]).flatmap(messages))
def test_every_message_arrives_as_it_was_sent(message: Message) -> None:
    assert are_equal(unpack(pack(message)), message)


TASK = StrengthTask("tictactoe", PlayerSpec("plain", name="random"), seed=1)


def test_a_part_is_run_on_the_device_that_is_given() -> None:
    tasks = Tasks((TASK, replace(TASK, player=tiny(TICTACTOE))))
    done = run_part(tasks, RunPart(1, 1), device="cpu")
    assert isinstance(done, PartDone) and (done.task, done.part) == (1, 1)
    refused = run_part(tasks, RunPart(1, 1), device="cuda:77")
    assert isinstance(refused, PartRefused) and "cuda:77" in refused.reason


def test_a_part_reports_that_memory_was_short(monkeypatch: pytest.MonkeyPatch) -> None:
    def measure_part(task: StrengthTask, part: int) -> PartResult:
        def work(part: slice) -> None:
            if part.stop - part.start > 4:
                raise torch.OutOfMemoryError

        Parts("games", 8).each(8, work)
        return []

    monkeypatch.setattr(StrengthTask, "measure_part", measure_part)
    done = run_part(Tasks((TASK,)), RunPart(0, 0))
    assert isinstance(done, PartDone) and done.notes == [
        "8 games do not fit into the GPU's memory; continuing with 4 at a time"
    ]


def test_a_queue_assigns_every_part_once_and_collects_results() -> None:
    queue = TaskQueue((TASK, TASK))
    assert [queue.assign(worker) for worker in range(5)] == [
        *(RunPart(task, part) for task in (0, 1) for part in (0, 1)),
        None,
    ]
    assert queue.assign(0) is None
    for worker, part in enumerate(queue.parts):
        assert queue.share_done == worker / 4 and not queue.is_done
        queue.complete(worker, PartDone(part.task, part.part, [worker]))
    assert queue.is_done and queue.results() == [[[0], [1]], [[2], [3]]]


def test_a_queue_returns_the_parts_of_lost_workers() -> None:
    queue = TaskQueue((TASK,))
    for worker in range(MAX_LOSSES):
        assert not queue.failure
        assert queue.assign(worker) == RunPart(0, 0)
        queue.return_lost([7], "was killed")
    assert queue.failure == "3 workers were lost with the same part; the last one was killed"


def test_a_queue_keeps_the_parts_of_present_workers() -> None:
    queue = TaskQueue((TASK,))
    queue.assign(0)
    queue.return_lost([0], "")
    assert queue.assign(1) == RunPart(0, 1) and queue.assign(2) is None


def test_a_refused_part_fails_the_queue() -> None:
    queue = TaskQueue((TASK,))
    queue.complete(0, PartRefused("a mistake"))
    assert queue.failure == "a mistake"


def test_a_network_has_one_evaluator_per_process() -> None:
    one, other = tiny(TICTACTOE, 0), tiny(TICTACTOE, 7)
    assert one.evaluator() is other.evaluator()
    assert one.evaluator() is not tiny(CONNECT4).evaluator()


def test_resolving_chooses_device_and_backend() -> None:
    undecided = replace(tiny(TICTACTOE), inference="auto", devices="auto")
    resolved = undecided.resolve(TICTACTOE)
    assert resolved.inference == undecided.evaluator().backend != "auto"
    assert resolved.devices != "auto"


@pytest.mark.usefixtures("in_threads")
def test_a_match_on_several_devices_has_the_same_result(undisturbed: MatchReport) -> None:
    report = play_match_over(
        TICTACTOE,
        PLAN,
        tiny(TICTACTOE),
        MINIMAX,
        workers=2,
        on_note=print,
        devices=["cpu", "cpu"],
    )
    assert report == undisturbed


class Started:
    """Notes which workers were started, and where."""

    def __init__(self) -> None:
        self.jobs: list[Any] = []
        self.gpus: list[float] = []

    def start(self, name: str, function: Any, job: str, **options: Any) -> None:
        self.jobs.append(job)
        self.gpus.append(options.get("gpus", 0.0))


def test_every_worker_has_its_device(monkeypatch: pytest.MonkeyPatch) -> None:
    started = Started()
    monkeypatch.setattr(evaluation_pool, "ProcessWorker", started.start)
    EvaluationPool(3, on_note=print, devices=["cuda:0", "cuda:1"])
    EvaluationPool(1, on_note=print)
    assert started.jobs == ["cuda:0", "cuda:1", "cuda:0", ""]


def test_a_worker_of_a_cluster_has_the_gpu_that_ray_gives_it() -> None:
    started: Any = Started()
    EvaluationPool(2, on_note=print, cluster=started, devices=["cuda:0", "cuda:1"])
    EvaluationPool(1, on_note=print, cluster=started, devices=["cpu"])
    assert started.jobs == ["cuda:0", "cuda:0", "cpu"] and started.gpus == [1.0, 1.0, 0.0]


@pytest.mark.parametrize(("devices", "parts"), [(["cuda:0"], 1), (["cuda:0", "cuda:1"], 2)])
def test_a_match_has_a_part_for_every_gpu(
    monkeypatch: pytest.MonkeyPatch, devices: list[str], parts: int
) -> None:
    tasks: list[MatchTask] = []

    def evaluate(given: Sequence[MatchTask], **options: object) -> list[list[object]]:
        tasks.extend(given)
        return [[]]

    monkeypatch.setattr(evaluation_pool, "evaluate", evaluate)
    monkeypatch.setattr(MatchTask, "combine", lambda task, results: results)
    monkeypatch.setattr(PlayerSpec, "is_on_gpu", lambda player: True)
    play_match_over(
        TICTACTOE, PLAN, MINIMAX, MINIMAX, workers=len(devices), on_note=print, devices=devices
    )
    assert tasks[0].parts == parts
