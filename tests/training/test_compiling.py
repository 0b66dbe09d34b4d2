"""The second process that compiles: the right kernels, and no longer than its run."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

from rookery.games import load_game
from rookery.search import cpu_search
from rookery.selfplay import CpuSelfPlay, kernel_calls
from rookery.selfplay.kernels import bind
from rookery.training import apply, compiling, recipe_for
from rookery.training.config import to_json

GAME = load_game("tictactoe")
CONFIG = apply(recipe_for("tictactoe"), ["selfplay.games=8", "selfplay.simulations=4"])


def test_kernels_are_noted_for_the_types_with_which_self_play_calls_them() -> None:
    calls = kernel_calls(GAME, CONFIG.selfplay, CONFIG.search)
    names = [kernel.__name__ for kernel, _ in calls]
    first, last = names.index("descend"), names.index("advance")
    assert names[0] == "restart" and first < names.index("decide") < last
    for kernel, types in calls:
        kernel.compile(types)
    kernels = vars(cpu_search.bind(GAME.rules, "gumbel")) | vars(bind(GAME.rules))
    before = {name: len(kernels[name].signatures) for name in names}
    play_a_little()
    assert {name: len(kernels[name].signatures) for name in names} == before
    assert set(names) == {*before} == steps_of_a_move()


def steps_of_a_move() -> set[str]:
    return {"begin", "descend", "write_planes", "ascend", "decide", "advance", "restart"}


def play_a_little() -> None:
    def evaluate(planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros((len(planes), 9), np.float32), np.full((len(planes), 3), 1 / 3, np.float32)

    selfplay = CpuSelfPlay(GAME, evaluate, config=CONFIG.selfplay, search=CONFIG.search, seed=1)
    assert selfplay.play(9, progress=0.0, iteration=0).rows is not None


def test_what_learning_needs_compiles() -> None:
    compiling.compile_learning(GAME)


def test_the_process_ends_with_its_run(tmp_path: Path) -> None:
    """Its cache is empty, so that it would compile for half a minute."""
    cache = {"XDG_CACHE_HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        [sys.executable, "-m", compiling.__name__],
        stdin=subprocess.PIPE,
        env={**os.environ, **cache},
    )
    assert process.stdin is not None
    job = {"config": to_json(CONFIG), "digest": GAME.digest}
    process.stdin.write(json.dumps(job).encode() + b"\n")
    process.stdin.close()
    assert process.wait(60) == 0
    assert not list(tmp_path.rglob("*decide*.nbc"))


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_one_core_compiles_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "available_cores", lambda: 1)
    monkeypatch.setattr(subprocess, "Popen", None)
    compiling.compile_in_background(GAME, CONFIG)
