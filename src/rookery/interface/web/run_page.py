"""What the pages of runs show, as plain objects for JSON."""

from dataclasses import asdict
from functools import cache
from typing import Any

from rookery.base import numbered_files
from rookery.interface.run_history import RunHistory
from rookery.interface.web.live_run import LiveRun
from rookery.interface.web.run_columns import Numbers, spread
from rookery.training import RECIPES, Config

SPARK_POINTS = 40
MEASUREMENTS_SHOWN = 2000
EVENTS_SHOWN = 20
"""Events of one worker."""

Plain = dict[str, Any]


def summary(run: LiveRun) -> Plain:
    """Return the row of a run in the list."""
    history, strength = run.history, run.history.strength
    return {
        "id": run.name,
        "game": run.game,
        "state": run.state,
        "recipe": run.config.recipe if run.config else "",
        "iterations": history.iteration,
        "minutes": round(run.seconds / 60, 2),
        "progress": run.progress,
        "updated": run.updated,
        "games": history.games,
        "strength": None if strength is None else asdict(strength),
        "spark": spark(run),
        "notes": run.notes,
    }


def spark(run: LiveRun) -> Plain:
    """Return the small curve of a run: its strength if measured, otherwise its loss."""
    measured = run.history.measurements
    if len(measured) >= 2:
        rows = spread(range(len(measured)), SPARK_POINTS)
        return {"name": "errors", "values": [measured[row].errors for row in rows]}
    return {"name": "loss", "values": run.columns.newest("loss", SPARK_POINTS)}


def page(run: LiveRun) -> Plain:
    """Return everything on the page of a run but its curves."""
    history = run.history
    return {
        **summary(run),
        "limit": _limit(run.config),
        "start": _start(history),
        "totals": {
            "positions": history.positions,
            "updates": history.updates,
            "seconds": round(history.seconds, 1),
        },
        "newest": _newest(run),
        "settings": settings(run.config) if run.config else {},
        "differences": differences(run.config) if run.config else [],
        "events": [{"seconds": each.seconds, "text": each.text} for each in history.notes],
        "workers": workers(history),
        "nets": _nets(run),
        "fallbacks": {kind: n for kind, n in history.last.get("fallbacks", {}).items() if n},
    }


def measurements(run: LiveRun) -> Plain:
    """Return strength and Elo over the iterations, with their intervals."""
    found = run.history.measurements
    shown = [found[row] for row in spread(range(len(found)), MEASUREMENTS_SHOWN)]
    strength = {
        name: [getattr(each, name) for each in shown]
        for name in ("iteration", "seconds", "errors", "low", "high", "simulations")
    }
    strength_label = found[-1].label if found else ""
    return {"strength": {**strength, "label": strength_label}, "elo": _elo(run)}


def _elo(run: LiveRun) -> Plain:
    ratings = list(run.ratings().items())
    chosen = [ratings[row] for row in spread(range(len(ratings)), MEASUREMENTS_SHOWN)]
    columns: dict[str, Numbers] = {"iteration": [iteration for iteration, _ in chosen]}
    for name in ("elo", "low", "high"):
        columns[name] = [getattr(each, name) for _, each in chosen]
    return columns


def settings(config: Config) -> Plain:
    """Return all settings by name, as --set takes them."""
    plain = asdict(config)
    flat = {"game": plain.pop("game"), "recipe": plain.pop("recipe")}
    for group, values in plain.items():
        if isinstance(values, dict):
            flat |= {f"{group}.{name}": value for name, value in values.items()}
        else:
            flat[group] = values
    flat["game"] = str(flat["game"]).replace("\\", "/").rsplit("/", 1)[-1]
    return flat


@cache
def _of_recipe(name: str) -> Plain:
    return settings(RECIPES[name]()) if name in RECIPES else {}


def differences(config: Config) -> list[Plain]:
    """Return the settings that are not those of the recipe."""
    own, usual = settings(config), _of_recipe(config.recipe)
    return [
        {"name": name, "value": value, "recipe": usual[name]}
        for name, value in own.items()
        if name in usual and name != "game" and value != usual[name]
    ]


def workers(history: RunHistory) -> list[Plain]:
    """Return the actors and the trainers with what happened to them."""
    found = []
    for each in (history.last.get("actors") or {}).get("workers", []):
        found.append({"kind": "actor", **_figures(each)})
    for rank in history.ranks:
        found.append({"kind": "trainer", **_figures(asdict(rank))})
    for worker in found:
        name = worker["name"]
        told = [note for note in history.notes if note.text.startswith(f"{name} ")]
        worker["events"] = [
            {"seconds": note.seconds, "text": note.text} for note in told[-EVENTS_SHOWN:]
        ]
    return found


_FIGURES = (
    "name",
    "device",
    "state",
    "positions_per_second",
    "rows_per_second",
    "memory_mb",
    "device_mb",
    "device_busy",
    "failures",
    "restarts",
)


def _figures(worker: Plain) -> Plain:
    return {name: worker[name] for name in _FIGURES if name in worker}


def _newest(run: LiveRun) -> Plain:
    """Return the figures of the newest iteration, by column."""
    rows = run.columns.rows(-1) if len(run.columns) else {}
    return {name: numbers[-1] for name, numbers in rows.items()}


def _start(history: RunHistory) -> Plain:
    names = ("device", "devices", "precision", "device_note")
    return {name: history.start[name] for name in names if name in history.start}


def _limit(config: Config | None) -> Plain:
    if config is None:
        return {}
    return {"minutes": config.run.minutes, "iterations": config.run.iterations}


def _nets(run: LiveRun) -> list[int]:
    try:
        return list(numbered_files(run.path / "weights"))
    except OSError:
        return []
