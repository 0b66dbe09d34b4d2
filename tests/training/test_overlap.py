"""On a CPU, updates are made while games are played, by threads of their own."""

from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, Timer
from typing import Any

import numba
import pytest
import torch

from rookery.learning import Learner
from rookery.selfplay import CpuSelfPlay
from rookery.training import Config, Progress, RunFolder, Stats, Stopped, apply, train
from rookery.training.factory import open_loop
from rookery.training.overlap import LearningThread, shared_threads

SECONDS = 60
"""No wait of a test takes this long, unless it fails."""


def updates_of_iterations(run: Path) -> list[int]:
    """Return how many updates each iteration made."""
    lines = [line for line in Stats(run).lines() if line["kind"] == "iteration"]
    return [(line["learning"] or {"updates": 0})["updates"] for line in lines]


def new_run(path: Path, config: Config, *settings: str) -> RunFolder:
    return RunFolder.create(path, apply(config, settings))


@pytest.fixture
def meeting(monkeypatch: pytest.MonkeyPatch) -> tuple[Event, Event]:
    """Self-play and learning that wait for each other in the second iteration."""
    plays, learns = Event(), Event()
    play, learn = CpuSelfPlay.play, Learner.learn

    def meet_learner(selfplay: CpuSelfPlay, *args: Any, iteration: int, **options: Any) -> Any:
        if iteration == 1:
            plays.set()
            assert learns.wait(SECONDS)
        return play(selfplay, *args, iteration=iteration, **options)

    def meet_selfplay(learner: Learner, *args: Any, **options: Any) -> Any:
        learns.set()
        assert plays.wait(SECONDS)
        return learn(learner, *args, **options)

    monkeypatch.setattr(CpuSelfPlay, "play", meet_learner)
    monkeypatch.setattr(Learner, "learn", meet_selfplay)
    return plays, learns


def test_games_are_played_while_updates_are_made(
    tiny_config: Config, tmp_path: Path, meeting: tuple[Event, Event]
) -> None:
    """Each waits for the other: taking turns, they would wait in vain."""
    folder = new_run(tmp_path / "run", tiny_config)
    train(folder, lambda progress: None)
    assert all(event.is_set() for event in meeting)


def test_updates_are_late_by_an_iteration_unless_phased(
    tiny_config: Config, tmp_path: Path
) -> None:
    """All are made in the end: the last iteration learns from its own games, too."""
    made = {}
    for mode in ("overlapped", "phased"):
        folder = new_run(tmp_path / mode, tiny_config, f"run.mode={mode}")
        train(folder, lambda progress: None)
        made[mode] = updates_of_iterations(folder.path)
    overlapped, phased = made["overlapped"], made["phased"]
    assert phased[0] > 0 == overlapped[0]
    assert abs(sum(overlapped) - sum(phased)) <= 2  # other games, other numbers of positions


def test_a_run_that_stops_while_both_work_waits_for_the_update_under_way(
    tiny_config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = new_run(tmp_path / "run", tiny_config)
    began, goes_on, ended, clip = Event(), Event(), Event(), Learner._clip

    def update(learner: Learner) -> Any:
        """Make an update; the first one lasts until some time after the run was stopped."""
        began.set()
        assert goes_on.wait(SECONDS)
        norm = clip(learner)
        ended.set()
        return norm

    def stop(progress: Progress) -> None:
        if progress.phase == "self-play" and began.is_set():
            Timer(0.3, goes_on.set).start()
            raise Stopped

    monkeypatch.setattr(Learner, "_clip", update)
    last = train(folder, stop)
    assert last.iteration == 1 and ended.is_set()
    monkeypatch.undo()
    train(RunFolder(folder.path), lambda progress: None)
    assert len(updates_of_iterations(folder.path)) == 6


@pytest.mark.parametrize(("threads", "playing", "learning"), [(1, 1, 1), (2, 1, 1), (5, 3, 2)])
def test_threads_are_shared_and_given_back(threads: int, playing: int, learning: int) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    with shared_threads() as left:
        assert (torch.get_num_threads(), left) == (playing, learning)
        assert numba.get_num_threads() <= playing
    assert torch.get_num_threads() == threads
    torch.set_num_threads(before)


def test_a_run_gives_threads_back(tiny_config: Config, tmp_path: Path) -> None:
    before = torch.get_num_threads(), numba.get_num_threads()
    with open_loop(new_run(tmp_path / "run", tiny_config), lambda progress: None):
        pass
    assert (torch.get_num_threads(), numba.get_num_threads()) == before


@pytest.fixture
def thread() -> Iterator[LearningThread]:
    thread = LearningThread(1)
    yield thread
    thread.close()


def test_the_thread_has_its_own_number_of_threads(thread: LearningThread) -> None:
    found = []
    thread.start(lambda check: found.append(torch.get_num_threads()))
    thread.finish(lambda: None)
    assert found == [1]


def test_an_error_of_learning_is_raised_where_it_is_awaited(thread: LearningThread) -> None:
    def fail(check: Callable[[], None]) -> None:
        raise RuntimeError("on purpose")

    thread.start(fail)
    with pytest.raises(RuntimeError, match="on purpose"):
        thread.finish(lambda: None)


def test_a_check_that_raises_stops_learning(thread: LearningThread) -> None:
    ended = Event()

    def learn(check: Callable[[], None]) -> None:
        try:
            while True:
                check()
        finally:
            ended.set()

    def stop() -> None:
        raise Stopped

    thread.start(learn)
    with pytest.raises(Stopped):
        thread.finish(stop)
    assert ended.is_set()
    thread.start(lambda check: check())  # and it can be started again
    thread.finish(lambda: None)
