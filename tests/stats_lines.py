"""Lines of statistics as a run writes them, without a run."""

import json
from pathlib import Path

LEARNED = {
    **dict.fromkeys(("policy", "value", "policy_kl", "policy_accuracy"), 0.5),
    **dict.fromkeys(("value_accuracy", "gradient_norm"), 0.5),
}


def iteration_line(number: int) -> dict[str, object]:
    """Return the line of an iteration."""
    played = {"games": 10, "positions": 90, "simulations": 360, "evaluations": 300, "seconds": 0.5}
    shares = {"mean_length": 7.5, "first_wins": 0.5, "draws": 0.25, "duplicate_games": 0.0}
    window = {"rows": 100, "rows_made": 200, "mean_age": 1.5}
    figures = {"updates": 3, "rows": 96, "learning_rate": 1e-3, "rows_per_second": 1e3}
    return {
        "kind": "iteration",
        "iteration": number,
        "seconds": 30.0 * number,
        "selfplay": {**played, **shares},
        "window": {**window, "duplicate_share": 0.2, "policy_entropy": 1.0},
        "learning": {**figures, "losses": {"total": 3.0 / number, **LEARNED}},
    }


def crew_line(number: int) -> dict[str, object]:
    """Return the line of an iteration with two GPUs and two actors, of which one has failed."""
    actor = {"memory_mb": 400, "failures": 0, "positions_per_second": 100.0, "device_busy": 0.5}
    workers = [{"name": "actor 0", **actor}, {"name": "actor 1", **actor, "failures": 3}]
    waits = {"staleness": 0.4, "learner_waited": 0.12, "games_waited": 0.0}
    usage = {"busy": 0.25, "memory_mb": 900.0}
    devices = {"cuda:0": usage, "cuda:1": {**usage, "busy": 0.75}}
    load = {"device": usage, "devices": devices}
    return {**iteration_line(number), **load, "actors": {**waits, "workers": workers}}


def note_line(number: int, text: str) -> dict[str, object]:
    """Return the line of an event."""
    return {"kind": "note", "iteration": number, "seconds": 30.0 * number, "note": text}


def strength_line(number: int) -> dict[str, object]:
    """Return the line of a measurement of strength."""
    interval = {"count": 9.0, "percent": 60 / number, "low": 50 / number, "high": 70 / number}
    rows = [{"label": "all", "number": 100, "errors": interval, "not_best": None}]
    strength = {"errors": 60 / number, "label": "moves that lose game value", "rows": rows}
    when = {"iteration": number, "seconds": 30.0 * number, "simulations": 2}
    return {"kind": "strength", **when, "strength": strength}


def elo_line(number: int) -> dict[str, object]:
    """Return the line of a rating that has no upper end."""
    when = {"iteration": number, "seconds": 30.0 * number, "simulations": 2, "took": 1.0}
    rating = {"elo": 10.0 * number, "low": 5.0 * number, "high": float("inf")}
    results = {"random": [1, 2, 3, 4, number]}
    return {"kind": "elo", **when, **rating, "anchors": {"random": 0.0}, "results": results}


def write_stats(run: Path, iterations: int) -> Path:
    """Give a run statistics of this many iterations, with a measurement every second one."""
    lines: list[dict[str, object]] = []
    for number in range(1, iterations + 1):
        lines.append(iteration_line(number))
        if number % 2 == 0:
            lines += [strength_line(number), elo_line(number)]
    (run / "stats.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return run
