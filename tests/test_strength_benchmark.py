"""The intervals and the order of runs of `benchmarks/strength.py`."""

import importlib
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest
from scipy import stats


@pytest.fixture
def strength(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(Path(__file__).parent.parent / "benchmarks"))
    return importlib.import_module("strength")


@pytest.mark.parametrize("freedom", [3, 4, 6, 10, 100])
def test_intervals_use_the_quantiles_of_students_distribution(
    strength: ModuleType, freedom: int
) -> None:
    assert strength.t_quantile(freedom) == pytest.approx(stats.t.ppf(0.975, freedom), rel=0.02)


def test_a_difference_has_the_interval_of_a_t_test(strength: ModuleType) -> None:
    first, second = [1.0, 1.2, 0.9, 1.1], [0.7, 0.8, 0.6, 0.9]
    found = strength.Comparison({"recipe": first, "other": second}).difference("other")
    interval = stats.ttest_ind(second, first).confidence_interval(0.95)
    assert found == f"-0.30 ± {(interval.high - interval.low) / 2:.2f}"


def test_too_few_seeds_have_no_interval(strength: ModuleType) -> None:
    each = strength.Comparison({"recipe": [1.0, 1.0], "other": [2.0]})
    assert (each.mean("recipe"), each.difference("other")) == ("1.00", "+1.00")


def test_variants_take_turns_and_each_is_first_once(strength: ModuleType) -> None:
    variants = [strength.Variant.read(text) for text in ("a", "b: x=1 y=2")]
    assert variants[1].settings == ("x=1", "y=2")
    order = [(variant.name, seed) for variant, seed in strength.in_turns(variants, [1, 2])]
    assert order == [("a", 1), ("b", 1), ("b", 2), ("a", 2)]


def test_a_planned_variant_trains_with_the_plan_in_the_time_that_is_left(
    strength: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    called = list[tuple[str, ...]]()
    clock = iter([10.0, 40.0])

    def rookery(command: str, *words: str, log: Path | None = None) -> str:
        called.append((command, *words))
        if command == "plan":
            return '{"choices": [{"name": "net.width", "value": 24, "reason": "fits"}]}'
        row = {"errors": {"percent": 7.5}}
        return json.dumps({"strength": {"32": {"rows": [row, row]}}})

    monkeypatch.setattr(strength, "rookery", rookery)
    monkeypatch.setattr(strength.time, "monotonic", lambda: next(clock))
    options = strength.argparse.Namespace(
        game="connect4", minutes=2.0, devices="cpu", set=[], runs=tmp_path
    )
    options.simulations, options.against = "32", None
    variant = strength.Variant.read("planned: --plan learning.reuse=2")
    assert strength.measured(options, variant, 1)["errors, 32"] == 7.5
    planned, trained, _ = called
    assert planned[:4] == ("plan", "connect4", "--minutes", "2.0")
    assert trained[trained.index("--minutes") + 1] == "1.5"
    chosen = [word for word in trained if "=" in word]
    assert chosen == ["net.width=24", "learning.reuse=2", "run.seed=1"]


def test_matches_are_counted_in_percent_and_kept(
    strength: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = ["net.width=8", "net.depth=1", "run.iterations=1", "selfplay.games=8"]
    words = ["tictactoe", "--variant", "recipe", "--minutes", "0", "--seeds", "1", "--runs"]
    small = [word for each in settings for word in ("--set", each)]
    match = ["--against", "random", "--games", "4", "--simulations", "2"]
    monkeypatch.setattr(sys, "argv", ["strength.py", *words, str(tmp_path), *small, *match])
    strength.main()
    kept = strength.json.loads((tmp_path / "recipe-1.json").read_text())
    assert kept["points, 2"] in {100 * points / 8 for points in range(9)}
    strength.main()  # a run that was measured is not made again: its folder exists
