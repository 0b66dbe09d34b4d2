"""Kernels of a new game compiled by a second process: Numba compiles on one core.

A run compiles a kernel when it first needs it. The other process compiles the kernels that a run
needs last, from the last to the first. Each finds in the cache on disk what the other has compiled.
It ends when it is done, or when its standard input ends with the run.
"""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from types import ModuleType
from typing import Any

import numba
import numpy as np
import torch

from rookery.arena.lockstep import legal_mask, outcomes, play_each
from rookery.base import available_cores
from rookery.games import Game, load_game
from rookery.search import cpu_search
from rookery.selfplay import CpuSelfPlay
from rookery.selfplay.kernels import bind as bind_selfplay
from rookery.training.config import Config, from_json, to_json
from rookery.training.planning.speed import filled_window

Calls = list[tuple[Any, tuple[Any, ...]]]
"""Kernels, and the types of the arguments with which they were called."""


def compile_in_background(game: Game, config: Config) -> None:
    """Start a process that compiles what this run needs later, if there is a core for it."""
    if available_cores() == 1:
        return
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", __name__],  # imports nothing from the present folder
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for the run
        )
    except OSError:  # no process can be started: this one compiles everything
        return
    job = json.dumps({"config": to_json(config), "digest": game.digest}).encode()
    threading.Thread(target=_serve, args=(process, job), name="compiling", daemon=True).start()


def _serve(process: subprocess.Popen[bytes], job: bytes) -> None:
    """Send the job, and wait for the process with its input open."""
    assert process.stdin is not None
    with suppress(OSError), process.stdin:  # it may have ended
        process.stdin.write(job + b"\n")
        process.stdin.flush()
        process.wait()
    process.wait()


def main() -> None:
    """Compile what the run that started this process needs."""
    job = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_input, daemon=True).start()
    config = from_json(job["config"])
    compile_kernels(load_game(config.game, job["digest"]), config)


def _end_with_input() -> None:
    sys.stdin.read()
    os._exit(0)


def compile_kernels(game: Game, config: Config) -> None:
    """Compile the kernels of measuring, learning and self-play, those needed last first."""
    compile_measuring(game)
    compile_learning(game)
    for kernel, types in reversed(selfplay_calls(game, config)):
        kernel.compile(types)


def compile_measuring(game: Game) -> None:
    """Compile what matches and strength tests use besides the search."""
    states = game.new_states(1)
    first = legal_mask(game, states).argmax(1).astype(np.int32)
    play_each(game, states, first)
    outcomes(game, states)


def compile_learning(game: Game) -> None:
    """Compile what builds batches."""
    window = filled_window(game, torch.device("cpu"))
    window.batch(np.zeros(1, np.int64), np.arange(8), stream=np.uint64(1), result_mix=0.5)


def selfplay_calls(game: Game, config: Config) -> Calls:
    """Return the kernels of self-play in the order of a move, called by games that do nothing."""
    outputs = np.zeros((2, game.num_actions), np.float32), np.zeros((2, 3), np.float32)
    steps = cpu_search.bind(game.rules, config.search.method), bind_selfplay(game.rules)
    with _noted_calls(steps) as calls:
        selfplay = CpuSelfPlay(
            game,
            lambda planes: outputs,
            config=replace(config.selfplay, games=2),
            search=config.search,
            seed=0,
        )
        selfplay.play(1, progress=0.0, iteration=0)
    return calls


@contextmanager
def _noted_calls(modules: Sequence[ModuleType]) -> Iterator[Calls]:
    """Have the kernels of modules note the types of their arguments instead of running."""
    calls: Calls = []

    def note(kernel: Any, *arguments: Any) -> None:
        calls.append((kernel, tuple(map(numba.typeof, arguments))))

    kept = [dict(vars(module)) for module in modules]
    for module, names in zip(modules, kept, strict=True):
        kernels = {name: each for name, each in names.items() if hasattr(each, "py_func")}
        vars(module).update({name: partial(note, kernel) for name, kernel in kernels.items()})
    try:
        yield calls
    finally:
        for module, names in zip(modules, kept, strict=True):
            vars(module).update(names)


if __name__ == "__main__":
    main()
