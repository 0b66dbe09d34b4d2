"""A whole run with the parts of a GPU: it learns, stops, resumes and ends."""

from pathlib import Path
from typing import Any

import pytest
import torch

from rookery.base import RunFolderError
from rookery.gpu import Graph
from rookery.learning import captured
from rookery.selfplay import GpuSelfPlay, Played, SelfPlayConfig
from rookery.training import (
    InitialWeights,
    Progress,
    RunFolder,
    Stats,
    Stopped,
    apply,
    factory,
    parts,
    recipe_for,
    self_players,
)
from rookery.training.loop import TrainingLoop
from rookery.training.self_players import LocalSelfPlay

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
pytestmark = pytest.mark.usefixtures("gpu_parts")


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder.create(tmp_path / "run", apply(recipe_for("tictactoe"), SMALL))


def ignore(progress: Progress) -> None:
    """Let the run go on."""


def new_loop(folder: RunFolder) -> TrainingLoop:
    """Return the loop of a run as it is on disk; nothing of it has to be closed."""
    with factory.open_loop(RunFolder(folder.path), ignore) as loop:
        return loop


def run_iterations(loop: TrainingLoop, number: int) -> None:
    for _ in range(number):
        loop.run_iteration()


def lines(folder: RunFolder, kind: str) -> list[dict[str, Any]]:
    return [line for line in Stats(folder.path).lines() if line["kind"] == kind]


def with_little_memory(*arguments: Any, config: SelfPlayConfig, **options: Any) -> GpuSelfPlay:
    """Return self-play on a GPU that has memory for 20 games."""
    if config.games > 20:
        raise torch.cuda.OutOfMemoryError("out of memory")
    return GpuSelfPlay(*arguments, config=config, **options)


def test_a_run_learns_and_records_every_iteration(folder: RunFolder) -> None:
    loop = new_loop(folder)
    loop.train()
    iterations = lines(folder, "iteration")
    assert [line["iteration"] for line in iterations] == [1, 2, 3, 4, 5, 6]
    assert all(line["selfplay"]["mean_batch"] == 6 for line in iterations)
    assert all(0.5 < line["selfplay"]["useful_rows"] < 1 for line in iterations)
    learned = [line["learning"] for line in iterations if line["learning"]]
    assert sum(report["updates"] for report in learned) == loop.learner.updates > 0
    rows = sum(report["rows"] for report in learned)
    reuse = folder.config.learning.reuse
    assert 0 < rows <= reuse * iterations[-1]["window"]["rows_made"] + 4 * 16
    assert lines(folder, "finished")
    assert folder.load_weights().header.step == loop.learner.updates


def test_a_stopped_run_continues_with_all_its_rows(folder: RunFolder) -> None:
    first = new_loop(folder)
    run_iterations(first, 4)
    first.stop()
    again = new_loop(folder)
    assert again.run.iteration == 4
    assert again.window.rows_made == first.window.rows_made
    assert again.window.statistics(4).rows == first.window.statistics(4).rows
    assert again.learner.updates == first.learner.updates
    again.train()
    assert [line["iteration"] for line in lines(folder, "iteration")] == [1, 2, 3, 4, 5, 6]


def test_a_run_starts_with_the_weights_of_another(folder: RunFolder, tmp_path: Path) -> None:
    net = new_loop(folder).learner.play_net
    for weights in net.parameters():
        torch.nn.init.normal_(weights, std=0.3)
    folder.save_weights(net, iteration=1, step=7)
    first = InitialWeights("runs/run", folder.load_weights())
    loop = new_loop(RunFolder.create(tmp_path / "other", folder.config, first))
    state = loop.learner.play_net.state_dict()
    assert all(torch.equal(state[name], first.weights.state[name]) for name in state)
    assert loop.learner.updates == 0


def test_the_callback_can_stop_a_run(folder: RunFolder) -> None:
    calls: list[Progress] = []

    def stop(progress: Progress) -> None:
        calls.append(progress)
        raise Stopped

    factory.train(folder, stop)
    assert len(calls) == 1
    assert new_loop(folder).run.iteration == 0


def test_a_run_that_is_stopped_while_it_waits_for_games_keeps_its_iterations(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = new_loop(folder)
    run_iterations(loop, 3)
    with monkeypatch.context() as patch:

        def stop(self: LocalSelfPlay, *arguments: object, **options: object) -> Played:
            raise Stopped

        patch.setattr(LocalSelfPlay, "play", stop)
        with pytest.raises(Stopped):
            loop.run_iteration()
    loop.stop()
    assert new_loop(folder).run.iteration == 3
    assert [line["iteration"] for line in lines(folder, "iteration")] == [1, 2, 3]


def test_games_that_do_not_fit_are_halved_with_a_note(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(self_players, "GpuSelfPlay", with_little_memory)
    folder.adapt(apply(folder.config, ["selfplay.games=64"]))
    loop = new_loop(folder)
    loop.run_iteration()
    assert loop.run.config.selfplay.games == 16
    assert RunFolder(folder.path).config.selfplay.games == 16
    assert loop.run.shown.notes == tuple(line["note"] for line in lines(folder, "note"))
    assert "64 games do not fit" in loop.run.shown.notes[-1]
    assert "continuing with 16" in loop.run.shown.notes[-1]


def test_a_run_resumes_where_fewer_games_fit(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.adapt(apply(folder.config, ["selfplay.games=40"]))
    first = new_loop(folder)
    first.run_iteration()
    first.stop()
    monkeypatch.setattr(self_players, "GpuSelfPlay", with_little_memory)
    again = new_loop(folder)
    again.run_iteration()
    assert again.run.config.selfplay.games == 20 and again.run.iteration == 2


def test_games_of_a_gpu_are_not_resumed_on_the_cpu(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = new_loop(folder)
    loop.run_iteration()
    loop.stop()
    monkeypatch.setattr(parts, "is_gpu", lambda device: False)
    monkeypatch.setattr(factory, "LocalSelfPlay", LocalSelfPlay)
    folder.adapt(apply(folder.config, ["run.inference=auto"]))
    with pytest.raises(RunFolderError, match="resume it with --devices cuda:0"):
        new_loop(folder)


def test_a_batch_that_does_not_fit_is_computed_in_parts(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def with_little_memory(update: Any, device: torch.device) -> Graph:
        if update.__self__._learner.config.accumulate < 4:
            raise torch.cuda.OutOfMemoryError("out of memory")
        return Graph(update, device)

    monkeypatch.setattr(captured, "Graph", with_little_memory)
    loop = new_loop(folder)
    loop.train()
    assert loop.learner.config.accumulate == 4
    assert loop.learner.updates > 0
    assert RunFolder(folder.path).config.learning.accumulate == 4
    assert "learning in 4 parts" in lines(folder, "note")[-1]["note"]
