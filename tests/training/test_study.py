"""A study: trials are real runs, none is lost, the weak are given up, and it goes on later."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from rookery.arena import Strength
from rookery.base import ConfigError, FileDamaged, RunFolderError
from rookery.learning import LearningDiverged
from rookery.training import (
    Config,
    TrialResult,
    Progress,
    ProgressCallback,
    RunFolder,
    Stats,
    Stopped,
    Study,
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
    """Opens the same study every time."""
    return lambda: Study(tmp_path / "study", config, read_space(SPACE, config))


def shown(watch: ProgressCallback = lambda moment: None) -> study.Show:
    @contextmanager
    def show(folder: RunFolder, settings: tuple[str, ...]) -> Iterator[ProgressCallback]:
        yield watch

    return show


def stop_at(iteration: int) -> ProgressCallback:
    def watch(moment: Progress) -> None:
        if moment.iteration == iteration:
            raise Stopped

    return watch


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


def test_the_last_measurement_of_a_run_is_what_counts(open_study: Callable[[], Study]) -> None:
    with open_study() as opened:
        outcome = opened.attempt(shown())
    measured = [line for line in Stats(outcome.run).lines() if line["kind"] == "strength"]
    assert len(measured) == 4
    assert outcome.errors == measured[-1]["strength"]["errors"]


def test_a_study_goes_on_with_what_it_knows(open_study: Callable[[], Study]) -> None:
    with open_study() as opened:
        first = opened.attempt(shown())
    with open_study() as opened:
        assert opened.num_done() == 1 and opened.outcomes() == [first]
        second = opened.attempt(shown())
        assert sorted(opened.outcomes(), key=lambda each: each.run) == [first, second]


def test_a_trial_that_was_stopped_is_taken_up_where_its_run_stood(
    open_study: Callable[[], Study], finished: RunFolder
) -> None:
    with open_study() as opened:
        cut = opened.attempt(shown(stop_at(2)))
        assert cut.ended == "cut off" and opened.num_done() == 0
    with open_study() as opened:
        whole = opened.attempt(shown())
        assert opened.num_done() == 1
    assert (whole.run, whole.settings) == (cut.run, cut.settings)
    assert whole.is_finished and kinds(whole).count("resumed") == 1
    assert kinds(whole).count("iteration") == 4


def test_a_trial_that_was_killed_is_taken_up_too(open_study: Callable[[], Study]) -> None:
    class Killed(BaseException):
        """The process ends here."""

    def kill(moment: Progress) -> None:
        if moment.iteration == 3:
            raise Killed

    opened = open_study().__enter__()
    with pytest.raises(Killed):
        opened.attempt(shown(kill))
    opened._lock.close()  # as the system does when a process has died
    with open_study() as again:
        outcome = again.attempt(shown())
        assert again.num_done() == 1
    assert outcome.run.name == "trial-0000" and outcome.is_finished
    assert kinds(outcome).count("resumed") == 1


class Scripted:
    """A ruler that finds one strength after the other."""

    def __init__(self, errors: list[float]) -> None:
        self._errors = errors

    def measure(self, player: Any) -> Strength:
        return Strength(self._errors.pop(0), "scripted", ())


def test_a_trial_that_falls_behind_is_given_up(
    open_study: Callable[[], Study], monkeypatch: pytest.MonkeyPatch
) -> None:
    ruler = Scripted([40, 30, 20, 10] * 2 + [50, 45, 0, 0])
    monkeypatch.setattr("rookery.training.ring.strength_test_for", lambda rules: ruler)
    monkeypatch.setattr(study, "UNQUESTIONED", 2)
    with open_study() as opened:
        outcomes = [opened.attempt(shown()) for _ in range(3)]
        assert opened.num_done() == 3
        assert opened.outcomes()[-1] == outcomes[2]
    assert [outcome.errors for outcome in outcomes] == [10, 10, 45]
    assert outcomes[2].ended == "given up at 50%" and not outcomes[2].is_finished
    assert "finished" not in kinds(outcomes[2]), "its run can be resumed by hand"


def test_settings_that_fail_are_a_bad_trial_and_not_the_end(
    open_study: Callable[[], Study], monkeypatch: pytest.MonkeyPatch
) -> None:
    def diverge(folder: RunFolder, watch: ProgressCallback) -> Progress:
        raise LearningDiverged("update 7 gave nan")

    with open_study() as opened:
        with monkeypatch.context() as patch:
            patch.setattr(study, "train", diverge)
            failed = opened.attempt(shown())
        assert failed.ended == "failed: update 7 gave nan" and failed.errors is None
        opened.attempt(shown())
        assert opened.num_done() == 2 and opened.outcomes()[-1] == failed


def test_settings_that_do_not_go_together_are_a_bad_trial(tmp_path: Path, config: Config) -> None:
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
    with pytest.raises(RunFolderError, match=r"begun with run.iterations=4, got 5; give the same"):
        Study(path, longer, space)
    with pytest.raises(RunFolderError, match="searches another space"):
        Study(path, config, space[:1])


def test_what_is_no_study_is_never_touched(tmp_path: Path, config: Config) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(RunFolderError, match="is no study"):
        Study(tmp_path, config, read_space(SPACE, config))
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


@pytest.mark.parametrize("name", ["study.json", "trials.sqlite"])
def test_a_damaged_study_is_told(open_study: Callable[[], Study], name: str) -> None:
    with open_study() as opened:
        (opened.path / name).write_text("not what it was" * 100)
    with pytest.raises(FileDamaged, match=f"{name} is damaged"):
        open_study().__enter__()


def test_one_process_tunes_at_a_time(open_study: Callable[[], Study]) -> None:
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


def test_without_optuna_one_line_says_what_to_install(
    open_study: Callable[[], Study], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ConfigError, match=r"needs Optuna \(pip install 'rookery\[tune\]'\)"):
        open_study()
    assert not (tmp_path / "study").exists()


def test_the_run_of_a_trial_can_be_trained_again(
    open_study: Callable[[], Study], tmp_path: Path, config: Config
) -> None:
    """The settings of an outcome are all it takes."""
    with open_study() as opened:
        outcome = [opened.attempt(shown()) for _ in range(2)][1]
    again = RunFolder.create(tmp_path / "again", apply(config, outcome.settings))
    train(again, lambda moment: None)
    assert again.load_weights().fingerprint == RunFolder(outcome.run).load_weights().fingerprint
