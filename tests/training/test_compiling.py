"""The processes that compile: the right kernels, and no longer than their run."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
import torch

from rookery.games import load_game
from rookery.search import cpu_search
from rookery.selfplay import CpuSelfPlay, kernel_calls
from rookery.selfplay.kernels import bind
from rookery.training import apply, compiling, recipe_for
from rookery.training.config import to_json
from rookery.training.needed_kernels import kernels_of_run

GAME = load_game("tictactoe")
CONFIG = apply(recipe_for("tictactoe"), ["selfplay.games=8", "selfplay.simulations=4"])


def test_kernels_are_noted_for_the_types_with_which_self_play_calls_them() -> None:
    calls = kernel_calls(GAME, CONFIG.selfplay, CONFIG.search)
    names = [kernel.__name__ for kernel, _ in calls]
    first, last = names.index("descend"), names.index("advance")
    assert names[0] == "restart" and first < names.index("decide") < last
    for kernel, types in calls:
        kernel.compile(types)
    kernels = vars(cpu_search.bind(GAME.rules, "gumbel", proves_leaves=False)) | vars(
        bind(GAME.rules)
    )
    before = {name: len(kernels[name].signatures) for name in names}
    play_a_little()
    assert {name: len(kernels[name].signatures) for name in names} == before
    assert set(names) == {*before} == steps_of_a_move()


def steps_of_a_move() -> set[str]:
    return {"follow", "begin", "descend", "write_planes", "ascend", "decide", "advance", "restart"}


def play_a_little() -> None:
    def evaluate(planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros((len(planes), 9), np.float32), np.full((len(planes), 3), 1 / 3, np.float32)

    selfplay = CpuSelfPlay(GAME, evaluate, config=CONFIG.selfplay, search=CONFIG.search, seed=1)
    assert selfplay.play(9, progress=0.0, iteration=0).rows is not None


def test_what_a_run_needs_compiles() -> None:
    work = kernels_of_run(GAME, CONFIG, torch.device("cpu"))
    assert len(work) > len(steps_of_a_move())  # the last one makes batches
    for compile_kernel in work:
        compile_kernel()


SCRIPT = """
import sys
from functools import partial
from pathlib import Path

import torch
from rookery.games import load_game
from rookery.training import compiling, prepare_compilers, recipe_for

folder = Path(sys.argv[1])
compiling.available_cores = lambda: 4
compiling.completion_mark = lambda *facts: folder / "mark"
compiling.kernels_of_run = lambda *run: [partial(touch, number) for number in range(7)]


def touch(number):
    (folder / str(number)).touch(exist_ok=False)
    assert sys.argv[2:] != [str(number)]


prepare_compilers()
assert compiling._forked is not None or sys.platform != "linux"
run = load_game("tictactoe"), recipe_for("tictactoe"), torch.device("cpu")
compilers = compiling.compile_in_background(*run)
compilers.wait()
made = [file.name for file in sorted(folder.iterdir())]
compilers.close()
print(*made, compiling.compile_in_background(*run) is None)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the script is not forked")
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_several_processes_share_the_kernels_once(tmp_path: Path) -> None:
    assert run_script(tmp_path) == "0 1 2 3 4 5 6 mark True"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the script is not forked")
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_a_kernel_that_does_not_compile_leaves_no_mark(tmp_path: Path) -> None:
    assert run_script(tmp_path, "6") == "1 2 4 5 6 False"  # 6, 3, 0 are the share of one process


def run_script(folder: Path, *arguments: str) -> str:
    command = [sys.executable, "-c", SCRIPT, str(folder), *arguments]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return done.stdout.strip()


def test_the_process_ends_with_its_run(tmp_path: Path) -> None:
    """Its cache is empty, so that it would compile for half a minute."""
    cache = {"XDG_CACHE_HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        [sys.executable, "-m", compiling.__name__],
        stdin=subprocess.PIPE,
        env={**os.environ, **cache},
    )
    assert process.stdin is not None
    job = {"config": to_json(CONFIG), "digest": GAME.digest, "device": "cpu", "mark": "mark"}
    process.stdin.write(json.dumps(job).encode() + b"\n")
    process.stdin.close()
    assert process.wait(60) == 1
    assert not list(tmp_path.rglob("*decide*.nbc"))


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_every_game_and_method_is_compiled_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "available_cores", lambda: 2)
    games, cpu = (GAME, load_game("connect4")), torch.device("cpu")
    configs = (CONFIG, apply(CONFIG, ["search.method=puct"]))
    assert len({compiling._mark(game, each, cpu) for game in games for each in configs}) == 4


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_one_core_compiles_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "available_cores", lambda: 1)
    monkeypatch.setattr(subprocess, "Popen", None)
    assert compiling.compile_in_background(GAME, CONFIG, torch.device("cpu")) is None
