"""The doctor on real short runs, each made to have one fault, and on healthy ones of every recipe.

What only several machines, a GPU or many iterations would show is written into the statistics of a
healthy run; those tests say "crafted".
"""

import json
import shutil
import time
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from rookery.api import open_run
from rookery.base import FileDamaged
from rookery.games import tictactoe
from rookery.training import (
    RECIPES,
    Config,
    Finding,
    RunFolder,
    Severity,
    Stats,
    apply,
    diagnose,
    recipe_for,
    setting_names,
    train,
)
from rookery.training.doctor import probes
from rookery.training.doctor.diagnose import findings
from rookery.training.doctor.evidence import Evidence
from rookery.training.doctor.probes import Measured, Reliability, reliability_bins
from rookery.training.doctor.speed import time_shares

SHORT = [
    "run.minutes=0",
    "run.strength_every=0",
    "run.elo_games=0",
    "run.checkpoint_every=1000",
    "run.inference=float32",
    "learning.precision=float32",
]
SMALL = [
    *SHORT,
    "run.iterations=12",
    "net.width=8",
    "net.depth=1",
    "selfplay.games=32",
    "selfplay.simulations=8",
    "replay.window_min=1500",
    "learning.batch_size=32",
]
Trained = Callable[..., RunFolder]
Crafted = Callable[..., list[Finding]]


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """Return a function that trains Tic-Tac-Toe, or another game, with some settings."""

    def make(*settings: str, start: Config | None = None) -> RunFolder:
        config = apply(start or recipe_for("tictactoe"), [*SMALL, *settings])
        folder = RunFolder.create(tmp_path_factory.mktemp("doctor") / "run", config)
        train(folder, lambda progress: None)
        return folder

    return make


@pytest.fixture(scope="session")
def healthy(trained: Trained) -> RunFolder:
    """A healthy run of Tic-Tac-Toe; only to be read."""
    return trained()


@pytest.fixture
def crafted(healthy: RunFolder) -> Crafted:
    """Return a function that diagnoses the healthy run with other figures and settings."""

    def make(
        figures: dict[str, float],
        *settings: str,
        repeat: int = 1,
        measured: Measured | None = None,
        notes: tuple[str, ...] = (),
    ) -> list[Finding]:
        lines = [deepcopy(line) for line in Stats(healthy.path).lines()]
        lines += [{"kind": "note", "iteration": 1, "seconds": 1.0, "note": note} for note in notes]
        iterations = [line for line in lines if line["kind"] == "iteration"] * repeat
        for line in iterations:
            for name, value in figures.items():
                put(line, name, value)
        others = [line for line in lines if line["kind"] != "iteration"]
        config = apply(healthy.config, settings)
        return findings(Evidence(config, [*others, *iterations], measured or Measured()))

    return make


def put(line: dict[str, Any], path: str, value: object) -> None:
    """Set a figure of a line by its path."""
    *parents, last = path.split(".")
    for name in parents:
        line[name] = line.get(name) or {}
        line = line[name]
    line[last] = value


def by_name(found: list[Finding]) -> dict[str, Finding]:
    """Return findings by name."""
    return {finding.name: finding for finding in found}


def values(finding: Finding) -> dict[str, str]:
    """Return the settings that a finding advises."""
    return {each.setting: each.value for each in finding.advice if each.setting}


def test_a_healthy_run_has_no_findings(healthy: RunFolder) -> None:
    assert diagnose(healthy) == []


def shortened(recipe: str) -> Config:
    """Return a recipe that two cores can train within a minute."""
    start = RECIPES[recipe]()
    config = apply(start, [*SHORT, "run.iterations=12", "selfplay.games=48", "net.width=16"])
    config = apply(config, ["net.depth=2", "replay.window_min=10000"])
    config = apply(config, [f"learning.batch_size={min(128, config.learning.batch_size)}"])
    return apply(config, ["selfplay.max_plies=80"]) if start.game == "chess" else config


@pytest.mark.slow
@pytest.mark.parametrize("recipe", RECIPES)
def test_every_recipe_is_healthy(recipe: str, tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", shortened(recipe))
    train(folder, lambda progress: None)
    assert alarms(diagnose(folder)) == []
    lines = list(Stats(folder.path).lines())
    for end in range(len(lines)):
        assert alarms(findings(Evidence(folder.config, lines[:end]))) == [], end


def alarms(found: list[Finding]) -> list[Finding]:
    """Return the findings that are more than notes."""
    return [each for each in found if each.severity != Severity.NOTE]


@pytest.mark.parametrize(
    ("settings", "name", "advice"),
    [
        (["learning.learning_rate=10"], "learning-rate-too-high", "learning.learning_rate"),
        (
            ["learning.learning_rate=1e-7", "run.mode=phased"],
            "learning-rate-too-low",
            "learning.learning_rate",
        ),
        (["learning.reuse=16", "run.iterations=8"], "overfitting", "learning.reuse"),
        (["learning.reuse=0.2", "learning.batch_size=8"], "underfitting", "learning.reuse"),
        (["replay.window_min=300", "replay.window_max=300"], "small-window", "replay.window_min"),
        (["selfplay.simulations=1"], "few-simulations", "selfplay.simulations"),
        (["search.c_scale=20", "run.iterations=16"], "low-entropy", "search.c_scale"),
        (
            [
                "search.c_scale=0.01",
                "learning.batch_size=8",
                "run.iterations=16",
                "run.mode=phased",
            ],
            "flat-entropy",
            "search.c_scale",
        ),
        (
            ["selfplay.resign=0.05", "selfplay.resign_check=0.5"],
            "resignation-errors",
            "selfplay.resign",
        ),
        (
            [
                "selfplay.opening_share=0",
                "selfplay.temperature_plies=0",
                "search.method=puct",
                "search.noise_fraction=0",
            ],
            "duplicate-games",
            "selfplay.opening_share",
        ),
    ],
)
def test_a_fault_is_found(trained: Trained, settings: list[str], name: str, advice: str) -> None:
    found = by_name(diagnose(trained(*settings), quick=True))
    assert found[name].severity != Severity.NOTE
    assert advice in values(found[name])


def test_a_value_head_that_does_not_learn_is_found(trained: Trained) -> None:
    found = by_name(diagnose(trained("learning.value_weight=0")))
    assert values(found["value-not-learned"])["learning.value_weight"] == "1"


def test_values_that_are_upside_down_are_found(
    healthy: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The network takes wins for losses: in the games of the run, and in the search."""
    monkeypatch.setattr(probes, "MATCH_SECONDS", 600.0)
    folder = RunFolder(Path(shutil.copytree(healthy.path, tmp_path / "run")))
    net = folder.load_weights().build()
    with torch.no_grad():
        for name, parameter in net.named_parameters():
            if name.startswith("value.last."):
                parameter.copy_(parameter.flip(0))
    folder.save_weights(net, iteration=max(folder.stored_weights()), step=1)
    found = by_name(diagnose(folder))
    assert found["value-not-calibrated"].severity != Severity.NOTE
    assert values(found["search-without-gain"]) == {"selfplay.simulations": "32"}


def test_one_result_is_found(trained: Trained) -> None:
    """Games of three plies, which nobody can have won."""
    found = by_name(
        diagnose(trained("selfplay.max_plies=4", "selfplay.opening_share=0"), quick=True)
    )
    assert values(found["one-result"])["selfplay.max_plies"] == "8"


def test_wrong_planes_of_an_own_game_are_found(trained: Trained, tmp_path: Path) -> None:
    source = Path(tictactoe.__file__).read_text().replace('NAME = "tictactoe"', 'NAME = "blind"')
    first = source.index("def planes(")
    wrong = source[:first] + source[first:].replace("out[0", "out[1", 1)
    rules = tmp_path / "blind.py"
    rules.write_text(wrong)
    start = replace(recipe_for("tictactoe"), game=str(rules))
    folder = trained("run.iterations=1", start=start)
    found = by_name(diagnose(folder))
    assert found["suspect-rules"].severity == Severity.PROBLEM
    assert "games check" in found["suspect-rules"].advice[0].text
    assert "suspect-rules" not in by_name(diagnose(folder, quick=True))
    assert "too-short" in found


def test_crafted_waiting_is_found(crafted: Crafted) -> None:
    assert "starved-learner" in by_name(crafted({"actors.learner_waited": 0.9}))
    assert "starved-actors" in by_name(crafted({"actors.games_waited": 0.9}))
    assert "waiting-trainers" in by_name(crafted({"learning.total.communication": 0.8}))
    assert crafted({"actors.learner_waited": 0.9}, "run.mode=phased") == []
    assert crafted({"actors.learner_waited": 0.2, "actors.games_waited": 0.1}) == []


def test_crafted_idle_gpu_is_found_with_where_the_time_goes(crafted: Crafted) -> None:
    found = by_name(crafted({"device.busy": 0.2}))["idle-device"]
    labels = [figure.label for figure in found.why]
    assert "time spent on self-play" in labels and "time spent on learning" in labels
    assert values(found)["selfplay.games"] == "128"
    assert crafted({"device.busy": 0.95}) == []


def test_crafted_lost_time_is_found(crafted: Crafted) -> None:
    found = by_name(crafted({"selfplay.seconds": 1e-3, "learning.rows_per_second": 1e9}))
    assert set(found) == {"lost-time"}
    assert "run.moves" in values(found["lost-time"])


def test_of_self_play_and_learning_side_by_side_the_longer_one_counts(healthy: RunFolder) -> None:
    lines = [deepcopy(line) for line in Stats(healthy.path).lines() if line["kind"] == "iteration"]
    for number, line in enumerate(lines):
        put(line, "seconds", float(number))
        put(line, "selfplay.seconds", 0.9)
        put(line, "learning.rows", 70)
        put(line, "learning.rows_per_second", 100)
    shares = time_shares(Evidence(healthy.config, lines))
    assert shares["self-play"] == pytest.approx(0.9) and shares["learning"] == pytest.approx(0.7)
    assert shares["anything else"] == pytest.approx(0.1)


def test_crafted_measurements_are_lost_time_except_the_first_which_compiles(
    healthy: RunFolder,
) -> None:
    assert findings(Evidence(healthy.config, measured_after(healthy, {3}))) == []
    (found,) = findings(Evidence(healthy.config, measured_after(healthy, {3, 6, 9})))
    (share,) = (each.value for each in found.why if "measuring" in each.label)
    assert found.name == "lost-time"
    assert share == pytest.approx(20 / (10 * 2 + 20))  # without iterations 1 and 4


def measured_after(run: RunFolder, iterations: set[int]) -> list[dict[str, Any]]:
    """Return the statistics of a run with iterations of two seconds and measurements of ten."""
    lines, seconds = list[dict[str, Any]](), 0.0
    for line in map(deepcopy, Stats(run.path).lines()):
        lines.append(line)
        if line["kind"] == "iteration":
            seconds += 2.0
            figures = {"seconds": seconds, "selfplay.seconds": 1.9, "learning.rows_per_second": 1e9}
            for name, value in figures.items():
                put(line, name, value)
            if line["iteration"] in iterations:
                seconds += 10.0
                measured = {"kind": "strength", "iteration": line["iteration"], "took": 10.0}
                lines.append({**measured, "seconds": seconds})
    return lines


def test_crafted_stale_data_is_found(crafted: Crafted) -> None:
    kept = {
        "window.rows": 1e5,
        "window.rows_made": 1e5,
        "learning.updates": 100,
        "learning.rows": 0,
    }
    settings = ["replay.window_min=200000", "replay.window_max=200000"]
    found = by_name(crafted(kept, *settings, repeat=5))
    assert values(found["stale-data"]) == {"replay.window_min": "25000"}
    assert "stale-data" not in by_name(crafted(kept, *settings))
    assert "stale-actors" in by_name(crafted({"actors.staleness": 9}))


def test_crafted_values_that_mislead_are_found(crafted: Crafted) -> None:
    found = by_name(crafted({"selfplay.value_error": 1.3, "selfplay.even_error": 0.9}))
    assert found["value-and-result-disagree"].severity == Severity.PROBLEM


def test_crafted_failures_of_learning_are_found_in_any_run(crafted: Crafted) -> None:
    note = "learning failed (update 3 gave total inf); continuing from update 0"
    found = by_name(crafted({}, notes=(note,)))
    assert found["learning-rate-too-high"].why[0].value == 1


def test_a_short_run_is_not_judged(trained: Trained) -> None:
    folder = trained("run.iterations=2", "learning.reuse=30", "selfplay.simulations=1")
    assert [finding.name for finding in diagnose(folder)] == ["too-short"]


def test_a_calibrated_value_head_is_no_finding() -> None:
    """By chance alone, the score of 300 games differs from what is expected."""
    rng = np.random.default_rng(1)
    games = np.repeat(np.arange(300), 2)
    predicted = rng.random(600)
    scored = (rng.random(600) < predicted).astype(float)
    assert Reliability(reliability_bins(predicted, scored, games), 300).error < 0.02
    sure = np.where(predicted > 0.5, 0.99, 0.01)
    assert Reliability(reliability_bins(sure, scored, games), 300).error > 0.1


def test_rows_of_one_game_count_once() -> None:
    """A hundred rows of the same lost game prove nothing."""
    (one,) = reliability_bins(np.full(100, 0.5), np.zeros(100), np.zeros(100, np.int64))
    assert (one.predicted, one.scored, one.rows, one.excess) == (0.5, 0.0, 100, 0.0)


def test_findings_are_plain_and_their_settings_exist(crafted: Crafted) -> None:
    found = crafted({"actors.games_waited": 0.9, "device.busy": 0.1}, "learning.reuse=20")
    assert found
    for finding in found:
        plain = json.loads(json.dumps(finding.to_plain(), allow_nan=False))
        assert plain["name"] == finding.name and plain["what"].endswith(".")
        assert set(values(finding)) <= set(setting_names())


def test_damaged_figures_are_no_findings(crafted: Crafted, healthy: RunFolder) -> None:
    """A line of JSON may hold anything where a number should be."""
    damaged: list[Any] = [None, "x", True, float("nan"), 10**400, [], -1]
    for wrong in damaged:
        names = ("selfplay", "learning", "window", "seconds", "device", "actors")
        for name in names:
            for finding in crafted({name: wrong}):
                json.dumps(finding.to_plain(), allow_nan=False)
    assert crafted({}) == []


def test_an_unreadable_file_of_statistics_is_an_error(healthy: RunFolder, tmp_path: Path) -> None:
    path = Path(shutil.copytree(healthy.path, tmp_path / "run"))
    (path / "stats.jsonl").write_bytes(b"\x00\xff{")
    with pytest.raises(FileDamaged, match=r"stats\.jsonl"):
        diagnose(RunFolder(path))
    (path / "stats.jsonl").unlink()
    with pytest.raises(FileDamaged, match=r"stats\.jsonl"):
        diagnose(RunFolder(path))


def test_a_window_that_still_grows_is_not_called_small(healthy: RunFolder) -> None:
    lines = [deepcopy(line) for line in Stats(healthy.path).lines()]
    iterations = [line for line in lines if line["kind"] == "iteration"]
    for number, line in enumerate(iterations, start=1):
        line["window"] |= {"rows": 10 * number, "rows_made": 10 * number}
    assert "small-window" not in by_name(findings(Evidence(healthy.config, lines)))
    iterations[-1]["window"]["rows"] -= 1
    assert "small-window" in by_name(findings(Evidence(healthy.config, lines)))


def test_ten_thousand_iterations_are_diagnosed_quickly(healthy: RunFolder, tmp_path: Path) -> None:
    """In about twice the time that reading them takes."""
    path = Path(shutil.copytree(healthy.path, tmp_path / "run"))
    lines = [line for line in Stats(path).lines() if line["kind"] == "iteration"]
    with open(path / "stats.jsonl", "w") as file:
        for number in range(10_000):
            file.write(json.dumps({**lines[number % len(lines)], "iteration": number + 1}) + "\n")
    run = open_run(path)
    reading = best_seconds(lambda: list(Stats(path).lines()))
    assert best_seconds(lambda: run.diagnose(quick=True)) < 10 * reading


def best_seconds(work: Callable[[], object]) -> float:
    """The least processor time of three calls: the machine may be shared."""
    taken = []
    for _ in range(3):
        begun = time.process_time()
        work()
        taken.append(time.process_time() - begun)
    return min(taken)
