"""Runs of many iterations without the time they take: lines of a short run, repeated."""

import json
import random
from pathlib import Path
from typing import Any

from stats_lines import elo_line, strength_line

MEASURED_EVERY = 50
CHANGE = 0.2
"""Numbers of a repeated line differ from its own by at most this share."""


def lengthen(run: Path, iterations: int) -> Path:
    """Give a run this many iterations, made of its own, and a measurement now and then."""
    path, noise = run / "stats.jsonl", random.Random(0)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    first, own = lines[0], [line for line in lines if line["kind"] == "iteration"]
    assert first["kind"] == "started" and own
    with open(path, "w") as file:
        file.write(json.dumps(first) + "\n")
        for number in range(1, iterations + 1):
            line = {**_changed(own[number % len(own)], noise), "iteration": number}
            file.write(json.dumps({**line, "seconds": 30.0 * number}) + "\n")
            if number % MEASURED_EVERY == 0:
                file.write(json.dumps(strength_line(number)) + "\n")
                file.write(json.dumps(elo_line(number)) + "\n")
        finished = {"kind": "finished", "iteration": iterations, "seconds": 30.0 * iterations}
        file.write(json.dumps(finished) + "\n")
    return run


def _changed(plain: Any, noise: random.Random) -> Any:
    """Return a line whose numbers with a fraction are a little different."""
    if isinstance(plain, dict):
        return {name: _changed(each, noise) for name, each in plain.items()}
    if isinstance(plain, list):
        return [_changed(each, noise) for each in plain]
    return plain * noise.uniform(1 - CHANGE, 1) if isinstance(plain, float) else plain
