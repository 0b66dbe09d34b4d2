"""The figures that `benchmarks/methods.py` prints, from statistics with known sums."""

import importlib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest


@pytest.fixture
def methods(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(Path(__file__).parent.parent / "benchmarks"))
    return importlib.import_module("methods")


def iteration(number: int, rows: int, total: dict[str, Any] | None) -> dict[str, Any]:
    learned = {"rows": rows, "updates": rows // 100, "rows_per_second": 50.0, "total": total}
    facts = {"kind": "iteration", "iteration": number, "seconds": 10.0 * number}
    return {**facts, "selfplay": {"games": 3}, "learning": learned}


def test_figures_are_sums_over_the_whole_run(methods: ModuleType) -> None:
    total = {"communication": 0.1, "sent_mb": 4.0, "memory_mb": 300, "device_mb": 0}
    more = {**total, "communication": 0.4, "memory_mb": 500}
    elo = {"kind": "elo", "elo": 100.0, "low": 50.0, "high": None}
    lines = [iteration(1, 100, total), iteration(2, 200, more), elo]
    found = methods.figures([*lines, {"kind": "finished", "seconds": 20.0}])
    assert (found["iterations"], found["games"], found["updates"]) == (2, 6, 3)
    assert found["rows_per_second"] == 300 / 20
    assert found["rows_per_second_learning"] == pytest.approx(50)
    assert found["communication"] == pytest.approx(0.3)  # weighted by rows
    assert found["sent_mb"] == pytest.approx(8 / 3)
    assert found["trainers_mb"] == 500 and found["elo"]["elo"] == 100


def test_one_process_communicates_nothing(methods: ModuleType) -> None:
    found = methods.figures([iteration(1, 100, None), {"kind": "finished", "seconds": 4.0}])
    assert found["communication"] is found["sent_mb"] is found["elo"] is None


def test_every_method_gets_cores_of_its_own(methods: ModuleType) -> None:
    assert methods.core_groups("0-5", 2) == [[0, 1], [2, 3], [4, 5]]
    assert methods.core_groups("3-5", 2) == [[3, 4]]
    assert methods.core_groups("0-5", 0) == [[]]
    with pytest.raises(SystemExit, match="fewer than --each 2"):
        methods.core_groups("4", 2)
