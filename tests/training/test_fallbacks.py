"""What a run may do instead of ending with an error: announced, counted, or refused."""

from pathlib import Path
from typing import Any

import pytest
import torch

from faulty_trainers import fail_at_once
from rookery.arena import SearchPlayer
from rookery.base import ConfigError
from rookery.learning import RankLearner
from rookery.nets import BackendChoice, CpuEvaluator
from rookery.training import Config, RunFolder, Stats, apply, check_hardware, train
from rookery.training.fallbacks import KINDS, FallbackRefused, Fallbacks, allowed_kinds
from rookery.training.measuring import LocalMeter
from rookery.training.parts import fallback_notes
from rookery.training.run import Run
from rookery.training.store.checkpoint import Checkpoint
from rookery.training.trainers import trainer
from rookery.training.trainers.pool import TrainerPool
from rookery.workers import WorkerEvent

TRAINERS = ["learning.method=distributed", "learning.workers=2"]


def test_kinds_are_read_from_all_none_or_a_list() -> None:
    assert allowed_kinds("all") == set(KINDS)
    assert allowed_kinds("none") == set()
    assert allowed_kinds("memory, workers") == {"memory", "workers"}
    with pytest.raises(ConfigError, match="did you mean memory"):
        allowed_kinds("memry")


def test_a_fallback_is_counted_or_refused() -> None:
    fallbacks = Fallbacks("memory")
    fallbacks.take("memory", "a batch does not fit")
    assert fallbacks.counts()["memory"] == 1 and fallbacks.counts()["device"] == 0
    with pytest.raises(FallbackRefused, match=r"no GPU; add device to run\.fallback"):
        fallbacks.take("device", "no GPU")


def test_a_missing_gpu_is_an_error_if_the_settings_say_so(tiny_config: Config) -> None:
    with pytest.raises(FallbackRefused, match="on the CPU"):
        check_hardware(apply(tiny_config, ["run.devices=auto", "run.fallback=memory"]))
    check_hardware(apply(tiny_config, ["run.devices=cpu", "run.fallback=none"]))


def small_batches(config: Config, fallback: str) -> Config:
    few_rows = ["learning.batch_size=1", "learning.reuse=0.1", f"run.fallback={fallback}"]
    return apply(config, [*few_rows, *TRAINERS, "run.devices=cpu", "run.iterations=2"])


def test_batches_too_small_to_share_are_learned_in_one_process(
    tiny_config: Config, tmp_path: Path
) -> None:
    folder = RunFolder.create(tmp_path / "run", small_batches(tiny_config, "all"))
    train(folder, lambda progress: None)
    lines = [*Stats(folder.path).lines()]
    assert any("learning in one process" in line.get("note", "") for line in lines)
    last = [line for line in lines if line["kind"] == "iteration"][-1]
    assert last["fallbacks"] == {**dict.fromkeys(KINDS, 0), "method": 1}
    with pytest.raises(FallbackRefused, match="no row for each of 2 trainers"):
        train(
            RunFolder.create(tmp_path / "other", small_batches(tiny_config, "none")),
            lambda progress: None,
        )


@pytest.mark.usefixtures("in_threads")
def test_a_run_whose_trainers_all_fail_learns_in_one_process(
    tiny_config: Config, finished: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TrainerPool, "worker_function", staticmethod(fail_at_once))
    monkeypatch.setattr(trainer, "RankLearner", RankLearner)  # put back afterwards
    config = apply(tiny_config, [*TRAINERS, "learning.workers=1", "run.devices=cpu"])
    folder = RunFolder.create(tmp_path / "run", config)
    train(folder, lambda progress: None)
    ends = [Checkpoint.load(run) for run in (folder.path, finished.path)]
    assert ends[0] is not None and ends[1] is not None
    assert int(ends[0].learner["updates"][0]) == int(ends[1].learner["updates"][0])
    lines = [line for line in Stats(folder.path).lines() if line["kind"] == "iteration"]
    assert lines[-1]["fallbacks"]["method"] == 1


def test_a_dropped_worker_is_counted_or_ends_the_run(finished: RunFolder, tmp_path: Path) -> None:
    dropped = WorkerEvent("actor 1", "was killed", "dropped after 6 failures", "workers")
    restarted = WorkerEvent("actor 1", "was killed", "restarting in 0.1 s")
    for fallback, is_allowed in (("workers", True), ("none", False)):
        config = apply(finished.config, [f"run.fallback={fallback}", "run.devices=cpu"])
        folder = RunFolder.create(tmp_path / fallback, config)
        run = Run(
            folder, lambda progress: None, device=torch.device("cpu"), iteration=0, seconds=0.0
        )
        run.note_event(restarted)
        assert run.fallbacks.counts()["workers"] == 0
        if is_allowed:
            run.note_event(dropped)
            assert run.fallbacks.counts()["workers"] == 1
        else:
            with pytest.raises(FallbackRefused, match="add workers to run"):
                run.note_event(dropped)
        run.close()


@pytest.mark.parametrize("fallback", ["memory", "none"])
def test_games_for_strength_that_do_not_fit_are_counted_or_refused(
    finished: RunFolder, tmp_path: Path, fallback: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = apply(finished.config, [f"run.fallback={fallback}", "run.devices=cpu"])
    folder = RunFolder.create(tmp_path / "run", config)
    run = Run(folder, lambda progress: None, device=torch.device("cpu"), iteration=0, seconds=0.0)
    game, net = finished.game, finished.load_weights().build()
    evaluator = CpuEvaluator(net, game.planes_shape, backend="float32")
    meter = LocalMeter(run, game, evaluator, lambda net: evaluator)
    searched = SearchPlayer._search_moves

    def only_two(player: SearchPlayer, states: Any, repetitions: Any) -> Any:
        if len(states) > 2:
            raise torch.OutOfMemoryError("out of memory, on purpose")
        return searched(player, states, repetitions)

    monkeypatch.setattr(SearchPlayer, "_search_moves", only_two)
    states = game.new_states(8)
    if fallback == "none":
        with pytest.raises(FallbackRefused, match=r"8 games do not fit .* add memory to run"):
            meter._player.choose(states)
    else:
        assert len(meter._player.choose(states)) == 8
        assert run.fallbacks.counts()["memory"] == 2
    run.close()


def test_the_fastest_backend_of_a_cpu_is_no_fallback(finished: RunFolder) -> None:
    net = finished.load_weights().build()
    evaluator = CpuEvaluator(net, finished.game.planes_shape, backend="float32")
    evaluator.choice = BackendChoice("float32", dropped={"bfloat16": "too slow"})
    assert fallback_notes(evaluator) == []
