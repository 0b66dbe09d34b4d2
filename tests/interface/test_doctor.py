"""`rookery doctor` in the terminal and as JSON."""

import json
from pathlib import Path

from command_line import Mistake, Rookery
from rookery.training import Stats


def lengthen(run: Path, **learning: object) -> None:
    """Make a run of two iterations one of twenty, with other figures of learning."""
    lines = [line for line in Stats(run).lines() if line["kind"] == "iteration"]
    with open(run / "stats.jsonl", "w") as file:
        for number in range(20):
            line = lines[number % 2]
            learned = lines[1]["learning"]
            losses = {**learned["losses"], "total": 3.0 - number / 10, **learning}
            changed = {**learned, "losses": losses, "updates": 20}
            line = {**line, "iteration": number + 1, "seconds": float(number), "learning": changed}
            file.write(json.dumps(line) + "\n")


def test_a_short_run_is_told_so(rookery: Rookery, finished_run: Path) -> None:
    answer = rookery("doctor", finished_run)
    assert answer.code == 0
    assert "too short to judge" in answer.out and "at least 8" in answer.out


def test_a_finding_has_figures_a_setting_and_a_command(rookery: Rookery, own_run: Path) -> None:
    lengthen(own_run, value=2.5)
    answer = rookery("doctor", own_run, "--quick")
    assert answer.code == 0
    text = " ".join(answer.out.split())
    assert "problem learning-rate-too-high" in text
    assert "value loss 2.5 nats (expected: below 1.10 nats)" in text
    assert "-> learning.learning_rate=0.00125 (now 0.005): make smaller steps" in text
    assert f"resume {own_run} --set learning.learning_rate=0.00125" in text


def test_json_says_the_same(rookery: Rookery, own_run: Path) -> None:
    lengthen(own_run, value=2.5)
    answer = json.loads(rookery("doctor", own_run, "--quick", "--json").out)
    assert answer["game"] == "tictactoe" and answer["iterations"] == 20 and answer["quick"]
    found = {finding["name"]: finding for finding in answer["findings"]}["learning-rate-too-high"]
    assert found["severity"] == "problem"
    assert {"label", "value", "unit", "expected", "text"} == set(found["why"][0])
    assert found["advice"][0]["setting"] == "learning.learning_rate"


def test_what_is_no_run_is_an_error_of_one_line(
    mistake: Mistake, own_run: Path, tmp_path: Path
) -> None:
    assert "is not a run folder" in mistake("doctor", tmp_path / "none")
    assert "is not a whole run folder" in mistake("doctor", tmp_path)
    (own_run / "stats.jsonl").unlink()
    assert "stats.jsonl is missing or damaged" in mistake("doctor", own_run)
    (own_run / "config.json").write_text("{")
    assert "config" in mistake("doctor", own_run, "--json")
