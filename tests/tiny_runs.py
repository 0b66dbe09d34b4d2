"""Runs of a few seconds."""

from pathlib import Path

import rookery as rk

TINY = {
    "run.moves": 9,
    "run.checkpoint_every": 1,
    "run.strength_every": 0,
    "run.inference": "float32",
    "net.width": 8,
    "net.depth": 1,
    "selfplay.games": 16,
    "selfplay.simulations": 4,
    "replay.window_min": 100,
    "learning.batch_size": 32,
    "learning.precision": "float32",
}
"""Settings that shrink an iteration to a fraction of a second."""


def tiny_run(path: Path, game: str = "tictactoe", **settings: object) -> Path:
    """Train a run of two iterations in the folder `path`."""
    changes = {name.replace("__", "."): value for name, value in settings.items()}
    rk.train(game, iterations=2, run=path, settings={**TINY, **changes}, devices="cpu")
    return path
