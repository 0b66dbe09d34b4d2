"""`--log`: the statistics of a run in experiment trackers."""

import json
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from command_line import Mistake
from random_runs import random_run
from rookery.interface.trackers import (
    mlflow_tracker,
    sending,
    tracker,
    trackio_tracker,
    wandb_tracker,
)
from rookery.interface.trackers.tracker import TrackedRun, read_trackers
from rookery.training import RunFolder
from stats_lines import write_stats

RUN = TrackedRun("tiny", Path("runs/tiny"), {"run.seed": 1, "net.kind": "resnet"})


class Memory:
    """A tracker that keeps what it is sent; it may fail or hang from a step on."""

    id = "memory-1"

    def __init__(self, *, fails_at: int = 10**9, hangs_at: int = 10**9) -> None:
        self.sent: list[tuple[int, dict[str, float]]] = []
        self.is_closed, self.known = False, ["never opened"]
        self._fails_at, self._hangs_at = fails_at, hangs_at

    def log(self, scalars: Mapping[str, float], *, step: int, time: float) -> None:
        if step >= self._fails_at:
            raise OSError("no\nserver")
        if step >= self._hangs_at:
            threading.Event().wait(5)
        self.sent.append((step, dict(scalars)))

    def close(self) -> None:
        self.is_closed = True


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunFolder:
    """A run with statistics of four iterations, whose trackers are asked often."""
    monkeypatch.setattr(sending, "POLL_SECONDS", 0.01)
    return RunFolder(write_stats(random_run(tmp_path / "tiny", "tictactoe"), 4))


def send(run: RunFolder, memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Send the statistics of a run to `memory`."""

    def opened(name: str, run: TrackedRun, known: str) -> Memory:
        memory.known = [known]
        return memory

    monkeypatch.setattr(sending, "open_tracker", opened)
    with sending.sending(run, ["memory"]):
        pass


def test_every_line_becomes_figures(run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = Memory()
    send(run, memory, monkeypatch)
    assert memory.is_closed
    assert [step for step, _ in memory.sent] == [1, 2, 2, 2, 3, 4, 4, 4]
    first, strength, elo = memory.sent[0][1], memory.sent[2][1], memory.sent[3][1]
    assert first["loss/total"] == 3.0 and first["loss/policy"] == 0.5
    assert first["speed/positions_per_second"] == 180.0 and first["total/games"] == 10.0
    assert strength == {"strength/errors": 30.0}
    assert elo == {"elo/rating": 20.0, "elo/low": 10.0}, "the upper end is infinite"


def test_a_resumed_run_continues_in_the_tracker(
    run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = Memory(), Memory()
    send(run, first, monkeypatch)
    write_stats(run.path, 6)  # as a run does that goes back and repeats iterations
    send(run, second, monkeypatch)
    assert (first.known, second.known) == ([""], ["memory-1"])
    assert [step for step, _ in second.sent] == [5, 6, 6, 6]
    assert second.sent[0][1]["total/games"] == 50.0


def test_damaged_lines_and_files_are_skipped(
    run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open(run.path / "stats.jsonl", "ab") as file:
        file.write(b'{"kind": "elo", "iteration": 9}\n{"kind": "strength"\n')
    (run.path / "trackers.json").write_text('{"memory": 3}')
    memory = Memory()
    send(run, memory, monkeypatch)
    assert len(memory.sent) == 8 and memory.known == [""]


def test_a_tracker_that_fails_leaves_one_note(
    run: RunFolder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    memory = Memory(fails_at=3)
    send(run, memory, monkeypatch)
    assert len(memory.sent) == 4
    assert capsys.readouterr().err.splitlines() == [
        "note: nothing more is sent to memory (OSError: no | server); training goes on"
    ]


def test_a_tracker_that_hangs_is_left_behind(
    run: RunFolder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sending, "CLOSE_SECONDS", 0.2)
    send(run, Memory(hangs_at=2), monkeypatch)
    assert "memory (it does not answer)" in capsys.readouterr().err


def test_tensorboard_files_hold_the_statistics(run: RunFolder) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    for iterations in (4, 6):
        write_stats(run.path, iterations)
        with sending.sending(run, read_trackers(["tensorboard"])):
            pass
    found = EventAccumulator(str(run.path / "tensorboard"))
    found.Reload()
    losses = [(each.step, each.value) for each in found.Scalars("loss/total")]
    assert losses == [(step, pytest.approx(3 / step)) for step in range(1, 7)]
    assert [each.step for each in found.Scalars("strength/errors")] == [2, 4, 6]
    assert [each.value for each in found.Scalars("elo/rating")] == [20.0, 40.0, 60.0]
    assert "run.seed" in str(found.SummaryMetadata("_hparams_/session_start_info"))


@pytest.mark.parametrize("known", ["", "abc"])
def test_wandb_gets_settings_and_steps_of_its_own(known: str) -> None:
    calls: list[Any] = []
    opened = SimpleNamespace(
        id=known or "new",
        define_metric=lambda *names, **options: calls.append((*names, *options.items())),
        log=calls.append,
        finish=lambda: calls.append("finish"),
    )
    options: dict[str, Any] = {}

    def init(**given: Any) -> SimpleNamespace:
        options.update(given)
        return opened

    package = SimpleNamespace(init=init, Settings=dict)
    found = wandb_tracker.open_run(package, RUN, known)
    found.log({"loss/total": 1.5}, step=7, time=0.0)
    found.close()
    assert options["name"] == "tiny" and options["config"] == RUN.settings
    assert (options["id"], options["resume"]) == ((known, "allow") if known else (None, None))
    assert calls[1:] == [
        ("*", ("step_metric", "iteration")),
        {"loss/total": 1.5, "iteration": 7},
        "finish",
    ]


def test_trackio_continues_a_run_by_its_name() -> None:
    calls: list[Any] = []
    opened = SimpleNamespace(log=lambda figures, step: calls.append((figures, step)))

    def init(**given: Any) -> SimpleNamespace:
        calls.append(given)
        return opened

    package = SimpleNamespace(init=init)
    first = trackio_tracker.open_run(package, RUN, "")
    again = trackio_tracker.open_run(package, RUN, first.id)
    again.log({"loss/total": 1.5}, step=7, time=0.0)
    assert first.id == again.id and first.id.startswith("tiny-")
    assert [given["resume"] for given in calls[:2]] == ["never", "allow"]
    assert calls[2] == ({"loss/total": 1.5}, 7)


@pytest.mark.parametrize("name", ["mlflow", "trackio", "wandb"])
def test_real_trackers_work_offline(
    name: str,
    run: RunFolder,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip(name)
    variables = {
        "MLFLOW_ALLOW_FILE_STORE": "true",
        "MLFLOW_TRACKING_URI": (tmp_path / "mlruns").as_uri(),
        "TRACKIO_DIR": str(tmp_path / "trackio"),
        "WANDB_MODE": "offline",
    }
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    ids = []
    for iterations in (4, 6):
        write_stats(run.path, iterations)
        with sending.sending(run, [name]):
            pass
        stored = json.loads((run.path / "trackers.json").read_text())[name]
        ids.append(stored["id"])
    assert "nothing more is sent" not in capsys.readouterr().err
    assert stored["last"] == {"iteration": 6, "strength": 6, "elo": 6}
    assert ids[0] == ids[1]
    if name == "mlflow":
        client = sys.modules[name].MlflowClient()
        losses = client.get_metric_history(ids[0], "loss/total")
        assert [each.step for each in losses] == [1, 2, 3, 4, 5, 6]


def test_mlflow_gets_parameters_in_parts_and_metrics_by_step() -> None:
    calls: list[Any] = []
    client = SimpleNamespace(
        get_experiment_by_name=lambda name: None,
        create_experiment=lambda name: f"id of {name}",
        create_run=lambda experiment, run_name: SimpleNamespace(
            info=SimpleNamespace(run_id=f"{run_name} in {experiment}")
        ),
        log_batch=lambda run_id, **parts: calls.append(parts),
        update_run=lambda run_id, status: calls.append((run_id, status)),
        set_terminated=lambda run_id: calls.append(run_id),
    )
    entities = SimpleNamespace(Metric=lambda *parts: parts, Param=lambda *parts: parts)
    package = SimpleNamespace(MlflowClient=lambda: client, entities=entities)
    many = TrackedRun("tiny", RUN.folder, {f"run.n{number}": number for number in range(150)})
    first = mlflow_tracker.open_run(package, many, "")
    assert first.id == "tiny in id of rookery"
    assert [len(parts["params"]) for parts in calls] == [100, 50]
    again = mlflow_tracker.open_run(package, many, first.id)
    again.log({"loss/total": 1.5}, step=7, time=2.5)
    again.close()
    metrics = {"metrics": [("loss/total", 1.5, 2500, 7)]}
    assert calls[2:] == [(first.id, "RUNNING"), metrics, first.id]


def test_a_missing_package_is_named_before_the_run_exists(
    mistake: Mistake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "wandb", None)
    message = mistake("train", "tictactoe", "--run", tmp_path / "new", "--log", "wandb")
    assert message == "rookery: --log wandb needs wandb (pip install 'rookery[wandb]')"
    assert not (tmp_path / "new").exists()


def test_trackers_are_named_once_or_refused(
    mistake: Mistake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in tracker.MODULES:
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    assert read_trackers(["mlflow, wandb", "wandb", ""]) == ["mlflow", "wandb"]
    message = mistake("resume", tmp_path, "--log", "tensorbord")
    assert "unknown tracker 'tensorbord'; did you mean tensorboard?" in message
