"""Trials side by side: the same results, lost workers are counted, and a stop can be continued."""

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from rookery.arena import Strength
from rookery.base import ConfigError, DiskFull, RookeryError
from rookery.training import (
    Config,
    Progress,
    ProgressCallback,
    RunFolder,
    Stats,
    Stopped,
    Study,
    TrialPool,
    TrialResult,
    apply,
    check_parallel,
    read_space,
)
from rookery.training.tuning import pool as pools
from rookery.training.tuning import study as studies
from rookery.training.tuning.study import run_trial
from thread_workers import ThreadWorker

SPACE = ["learning.learning_rate=1e-4..1e-2:log"]
DEADLINE_SECONDS = 120.0
pytestmark = pytest.mark.usefixtures("quick_strength")


@pytest.fixture(autouse=True)
def in_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run trial workers in threads of this process."""
    monkeypatch.setattr(pools, "ProcessWorker", ThreadWorker)


@pytest.fixture
def config(tiny_config: Config) -> Config:
    return apply(tiny_config, ["run.iterations=4", "run.strength_every=1", "run.devices=cpu"])


@pytest.fixture
def open_study(tmp_path: Path, config: Config) -> Callable[[], Study]:
    """Return a function that opens the same study every time."""
    return lambda: Study(tmp_path / "study", config, read_space(SPACE, config))


def run_all(study: Study, trials: int, workers: int = 2) -> tuple[list[TrialResult], list[str]]:
    """Run trials until the study has `trials`; return their results and notes."""
    notes: list[str] = []
    results = []
    with closing(TrialPool(study, workers, on_note=notes.append)) as pool:
        for events in polled(pool, trials):
            results += [event for event in events if isinstance(event, TrialResult)]
            if study.num_done() >= trials:
                break
    return results, notes


def polled(pool: TrialPool, trials: int) -> Iterator[list[object]]:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while time.monotonic() < deadline:
        yield [*pool.poll(trials)]
        time.sleep(0.01)
    raise AssertionError("the trials do not end")


def test_trials_side_by_side_are_ordinary_runs(
    open_study: Callable[[], Study], config: Config
) -> None:
    with open_study() as study:
        results, notes = run_all(study, 3)
        assert study.num_done() == 3 and not notes
        assert sorted(study.outcomes(), key=str) == sorted(results, key=str)
    assert all(each.is_finished and each.errors is not None for each in results)
    assert {each.run.name for each in results} == {"trial-0000", "trial-0001", "trial-0002"}
    for each in results:
        assert RunFolder(each.run).config == apply(config, each.settings)
    assert len({each.settings for each in results}) == 3


def fake_run(
    errors: list[float], *, seconds: float = 0.1
) -> Callable[[RunFolder, ProgressCallback], str]:
    """Return a run with these measurements of strength, which waits for a stop after each."""

    def run(folder: RunFolder, callback: ProgressCallback) -> str:
        try:
            for number, each in enumerate(errors, start=1):
                share = number / len(errors)
                progress = Progress("self-play", number, share, 0.0)
                for _ in range(int(seconds / 0.005)):
                    callback(Progress(**{**vars(progress), "strength": Strength(each, "x", ())}))
                    time.sleep(0.005)
        except Stopped:
            return ""
        stats = Stats(folder.path)
        stats.append("strength", 1, strength={"errors": errors[-1]})
        stats.append("finished", 1)
        return ""

    return run


def test_a_trial_that_falls_behind_is_stopped(
    open_study: Callable[[], Study], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(studies, "WARMUP_TRIALS", 2)
    with open_study() as study:
        monkeypatch.setattr(pools, "run_trial", fake_run([40, 30, 20, 10] * 2))
        run_all(study, 2)
        monkeypatch.setattr(pools, "run_trial", fake_run([90.0] * 8, seconds=4.0))
        (result,), _ = run_all(study, 3)
    assert result.ended.startswith("pruned at ") and not result.is_finished


def test_a_trial_whose_worker_is_lost_is_reported_and_counted(
    open_study: Callable[[], Study], monkeypatch: pytest.MonkeyPatch
) -> None:
    good = fake_run([10.0])

    def crash(folder: RunFolder, callback: ProgressCallback) -> str:
        if folder.path.name == "trial-0000":
            raise RuntimeError("out of luck")
        return good(folder, callback)

    monkeypatch.setattr(pools, "run_trial", crash)
    with open_study() as study:
        results, notes = run_all(study, 3)
        assert study.num_done() == 3
    lost = next(each for each in results if each.run.name == "trial-0000")
    assert lost.ended == "failed: its worker failed: RuntimeError: out of luck"
    assert [each.is_finished for each in results].count(True) == 2
    assert len(notes) == 1 and "RuntimeError: out of luck; restarting" in notes[0]


def test_an_error_that_no_settings_cause_ends_the_study(
    open_study: Callable[[], Study], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(folder: RunFolder, callback: ProgressCallback) -> str:
        raise DiskFull("no room left")

    monkeypatch.setattr(pools, "run_trial", fail)
    with open_study() as study, pytest.raises(RookeryError, match="no room left"):
        run_all(study, 3)
    monkeypatch.setattr(pools, "run_trial", fake_run([10.0]))
    with open_study() as study:
        assert study.num_done() == 0
        results, _ = run_all(study, 2)
    assert "trial-0000" in {each.run.name for each in results}  # it is continued


def hold(folder: RunFolder, callback: ProgressCallback) -> str:
    """Run a trial until it has written something, then wait for a stop."""

    def wait(progress: Progress) -> None:
        callback(progress)
        while (folder.path / "stats.jsonl").exists():
            time.sleep(0.005)
            callback(progress)

    return run_trial(folder, wait)


def test_stopped_trials_are_continued_also_by_one_process(
    open_study: Callable[[], Study], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pools, "run_trial", hold)
    with open_study() as study, closing(TrialPool(study, 2, on_note=print)) as pool:
        for _ in polled(pool, 2):
            started = [run for run, _ in pool.progress()]
            if len(started) == 2 and all(
                (study.path / run / "stats.jsonl").exists() for run in started
            ):
                break
    monkeypatch.setattr(pools, "run_trial", run_trial)
    with open_study() as study:
        assert study.num_done() == 0
        results, _ = run_all(study, 2, workers=1)
    assert {each.run.name for each in results} == {"trial-0000", "trial-0001"}
    assert all(each.is_finished for each in results)


def test_trials_are_spread_over_the_devices(
    open_study: Callable[[], Study], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pools, "find_devices", lambda devices: ("cuda:0", "cuda:1"))
    monkeypatch.setattr(pools, "run_trial", fake_run([10.0]))
    with open_study() as study:
        results, _ = run_all(study, 4)
    devices = [RunFolder(each.run).config.run.devices for each in results]
    assert set(devices) == {"cuda:0", "cuda:1"}


@pytest.mark.parametrize("setting", ["run.actors=2", "learning.method=distributed"])
def test_a_trial_must_be_one_process(config: Config, setting: str) -> None:
    check_parallel(config)
    with pytest.raises(ConfigError, match="runs every trial in one process"):
        check_parallel(apply(config, [setting]))
