"""A sample of `make soak`: a dozen random faults against one run."""

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

SOAK = Path(__file__).parents[2] / "tools" / "soak.py"
FAULTS = 12


@pytest.mark.parametrize(("errors", "is_ok"), [(7.0, True), (9.5, True), (20.0, False)])
def test_strength_is_judged_by_the_noise_between_undisturbed_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, errors: float, is_ok: bool
) -> None:
    monkeypatch.syspath_prepend(str(SOAK.parent))
    checks = importlib.import_module("soak_checks")
    for name, each in (("disturbed", errors), ("one", 6.0), ("two", 8.0), ("three", 9.0)):
        lines = [
            {"kind": "strength", "iteration": 10 * number, "strength": {"errors": each}}
            for number in range(1, 12)
        ]
        (tmp_path / name).mkdir()
        (tmp_path / name / "stats.jsonl").write_text("".join(f"{json.dumps(x)}\n" for x in lines))
    others = [tmp_path / name for name in ("one", "two", "three")]
    check = checks.check_strength(tmp_path / "disturbed", others)
    assert check.is_ok is is_ok and "after 110 iterations" in check.what
    assert "so few" in checks.check_strength(tmp_path / "disturbed", others[:2]).what


def test_a_hang_is_found_within_one_life(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(SOAK.parent))
    checks = importlib.import_module("soak_checks")

    def sample(at: float, pid: int, iteration: int) -> object:
        return checks.Sample(at, pid, 1.0, 1, 1, iteration, frozenset())

    ended_often = [sample(100.0 * n, n, 7) for n in range(9)]
    found = checks.check_pauses([*ended_often, sample(850.0, 8, 8)])
    assert found.is_ok and "at most 50 s" in found.what and "850 s over several" in found.what
    assert not checks.check_pauses([*ended_often, sample(921.0, 8, 8)]).is_ok


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and Linux signals")
def test_a_run_survives_random_faults(environment: dict[str, str], tmp_path: Path) -> None:
    report = tmp_path / "soak.json"
    options = ["--faults", FAULTS, "--every", 2, "--partitions", 0, "--undisturbed", 1]
    command = [sys.executable, SOAK, "--folder", tmp_path / "soak", "--json", report, *options]
    done = subprocess.run(
        list(map(str, command)), env=environment, capture_output=True, text=True, timeout=1800
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(report.read_text())
    assert sum(found["faults"].values()) == FAULTS
    assert len(found["checks"]) >= 7 and all(check["is_ok"] for check in found["checks"])
