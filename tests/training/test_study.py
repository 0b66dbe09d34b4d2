"""A study: trials are real runs, weak ones are pruned, and an interrupted study continues."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from rookery.arena import Strength
from rookery.base import ConfigError, FileDamaged, RunFolderError
from rookery.learning import LearningDiverged
from rookery.training import (
    Config,
    Progress,
    ProgressCallback,
    RunFolder,
    Stats,
    Stopped,
    Study,
    TrialResult,
    apply,
    read_space,
    train,
)
from rookery.training.tuning import study

SPACE = ["learning.learning_rate=1e-4..1e-2:log", "learning.batch_size=32|64"]
pytestmark = pytest.mark.usefixtures("quick_strength")


@pytest.fixture
def config(tiny_config: Config) -> Config:
    return apply(tiny_config, ["run.iterations=4", "run.strength_every=1"])


@pytest.fixture
def open_study(tmp_path: Path, config: Config) -> Callable[[], Study]:
    """Return a function that opens the same study every time."""
    return lambda: Study(tmp_path / "study", config, read_space(SPACE, config))


def shown(callback: ProgressCallback = lambda progress: None) -> study.Show:
    @contextmanager
    def show(folder: RunFolder, settings: tuple[str, ...]) -> Iterator[ProgressCallback]:
        yield callback

    return show


def stop_at(iteration: int) -> ProgressCallback:
    def callback(progress: Progress) -> None:
        if progress.iteration == iteration:
            raise Stopped

    return callback


def kinds(outcome: TrialResult) -> list[str]:
    return [line["kind"] for line in Stats(outcome.run).lines()]


def test_the_first_trial_is_the_recipe_and_the_others_differ(
    open_study: Callable[[], Study], config: Config
) -> None:
    with open_study() as opened:
        first, second = (opened.attempt(shown()) for _ in range(2))
        assert opened.num_done() == 2
    assert first.is_finished and first.ended == "finished"
    assert RunFolder(first.run).config == config
    assert second.settings != first.settings
    assert RunFolder(second.run).config == apply(config, second.settings)


def test_the_result_of_a_trial_is_its_last_measurement(open_study: Callable[[], Study]) -> None:
    with open_study() as opened:
        outcome = opened.attempt(shown())
    measured = [line for line in Stats(outcome.run).lines() if line["kind"] == "strength"]
    assert len(measured) == 4
    assert outcome.errors == measured[-1]["strength"]["errors"]


def test_a_reopened_study_keeps_its_trials(open_study: Callable[[], Study]) -> None:
    with open_study() as opened:
        first = opened.attempt(shown())
    with open_study() as opened:
        assert opened.num_done() == 1 and opened.outcomes() == [first]
        second = opened.attempt(shown())
        assert sorted(opened.outcomes(), key=lambda each: each.run) == [first, second]


def test_a_stopped_trial_is_continued(open_study: Callable[[], Study], finished: RunFolder) -> None:
    with open_study() as opened:
        stopped = opened.attempt(shown(stop_at(2)))
        assert stopped.ended == "interrupted" and opened.num_done() == 0
    with open_study() as opened:
        whole = opened.attempt(shown())
        assert opened.num_done() == 1
    assert (whole.run, whole.settings) == (stopped.run, stopped.settings)
    assert whole.is_finished and kinds(whole).count("resumed") == 1
    assert kinds(whole).count("iteration") == 4


def test_a_killed_trial_is_continued(open_study: Callable[[], Study]) -> None:
    class Killed(BaseException):
        """Ends a run as a killed process would."""

    def kill(progress: Progress) -> None:
        if progress.iteration == 3:
            raise Killed

    opened = open_study().__enter__()
    with pytest.raises(Killed):
        opened.attempt(shown(kill))
    opened._lock.close()  # the system does so when a process dies
    with open_study() as again:
        outcome = again.attempt(shown())
        assert again.num_done() == 1
    assert outcome.run.name == "trial-0000" and outcome.is_finished
    assert kinds(outcome).count("resumed") == 1


class ScriptedTest:
    """A strength test with given results."""

    parts = 1

    def __init__(self, errors: Sequence[float]) -> None:
        self._errors = list(errors)

    def measure_part(self, player: Any, part: int) -> float:
        return self._errors.pop(0)

    def combine(self, results: list[float]) -> Strength:
        return Strength(results[0], "scripted", ())


def test_a_trial_worse_than_the_median_is_pruned(
    open_study: Callable[[], Study], monkeypatch: pytest.MonkeyPatch
) -> None:
    test = ScriptedTest([40, 30, 20, 10] * 2 + [50, 45, 0, 0])
    monkeypatch.setattr("rookery.training.measuring.strength_test_for", lambda game: test)
    monkeypatch.setattr(study, "WARMUP_TRIALS", 2)
    with open_study() as opened:
        outcomes = [opened.attempt(shown()) for _ in range(3)]
        assert opened.num_done() == 3
        assert opened.outcomes()[-1] == outcomes[2]
    assert [outcome.errors for outcome in outcomes] == [10, 10, 45]
    assert outcomes[2].ended == "pruned at 50%" and not outcomes[2].is_finished
    assert "finished" not in kinds(outcomes[2])


def test_a_trial_that_diverges_does_not_end_the_study(
    open_study: Callable[[], Study], monkeypatch: pytest.MonkeyPatch
) -> None:
    def diverge(folder: RunFolder, callback: ProgressCallback) -> Progress:
        raise LearningDiverged("update 7 gave nan")

    with open_study() as opened:
        with monkeypatch.context() as patch:
            patch.setattr(study, "train", diverge)
            failed = opened.attempt(shown())
        assert failed.ended == "failed: update 7 gave nan" and failed.errors is None
        opened.attempt(shown())
        assert opened.num_done() == 2 and opened.outcomes()[-1] == failed


def test_a_trial_with_inconsistent_settings_does_not_end_the_study(
    tmp_path: Path, config: Config
) -> None:
    space = read_space(["learning.batch_size=32|33"], apply(config, ["learning.accumulate=1"]))
    wrong = apply(config, ["learning.batch_size=32", "learning.accumulate=32"])
    with Study(tmp_path / "study", wrong, space) as opened:
        outcomes = [opened.attempt(shown()) for _ in range(6)]
    assert any("failed: learning.accumulate" in outcome.ended for outcome in outcomes)


def test_a_study_of_other_settings_is_refused(
    open_study: Callable[[], Study], tmp_path: Path, config: Config
) -> None:
    space, path = open_study().space, tmp_path / "study"
    longer = apply(config, ["run.iterations=5"])
    with pytest.raises(
        RunFolderError, match=r"started with run.iterations=4, got 5; give the same"
    ):
        Study(path, longer, space)
    with pytest.raises(RunFolderError, match="searches another space"):
        Study(path, config, space[:1])


def test_a_folder_that_is_not_a_study_is_never_touched(tmp_path: Path, config: Config) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(RunFolderError, match="is not a study"):
        Study(tmp_path, config, read_space(SPACE, config))
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


@pytest.mark.parametrize("name", ["study.json", "trials.sqlite"])
def test_a_damaged_study_is_reported(open_study: Callable[[], Study], name: str) -> None:
    with open_study() as opened:
        (opened.path / name).write_text("not what it was" * 100)
    with pytest.raises(FileDamaged, match=f"{name} is damaged"):
        open_study().__enter__()


def test_only_one_process_can_tune(open_study: Callable[[], Study]) -> None:
    with open_study(), pytest.raises(RunFolderError, match="another process"):
        open_study().__enter__()


@pytest.mark.parametrize(
    ("setting", "found"),
    [("run.strength_every=0", "compared by strength"), ("run.iterations=0", "has no end")],
)
def test_trials_must_end_and_be_measured(
    tmp_path: Path, config: Config, setting: str, found: str
) -> None:
    with pytest.raises(ConfigError, match=found):
        Study(tmp_path / "study", apply(config, [setting]), read_space(SPACE, config))
    assert not (tmp_path / "study").exists()


def test_without_optuna_the_error_says_what_to_install(
    open_study: Callable[[], Study], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ConfigError, match=r"needs Optuna \(pip install 'rookery\[tune\]'\)"):
        open_study()
    assert not (tmp_path / "study").exists()


def test_the_run_of_a_trial_can_be_reproduced(
    open_study: Callable[[], Study], tmp_path: Path, config: Config
) -> None:
    """The settings in its result reproduce the run."""
    with open_study() as opened:
        outcome = [opened.attempt(shown()) for _ in range(2)][1]
    again = RunFolder.create(tmp_path / "again", apply(config, outcome.settings))
    train(again, lambda progress: None)
    assert again.load_weights().fingerprint == RunFolder(outcome.run).load_weights().fingerprint
