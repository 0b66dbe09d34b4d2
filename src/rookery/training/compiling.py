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
from contextlib import suppress

import numpy as np
import torch

from rookery.base import available_cores
from rookery.games import Game, load_game
from rookery.selfplay import kernel_calls
from rookery.training.config import Config, from_json, to_json
from rookery.training.planning.speed import filled_window


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
    """Compile the kernels of learning and self-play, those needed last first."""
    compile_learning(game)
    for kernel, types in reversed(kernel_calls(game, config.selfplay, config.search)):
        kernel.compile(types)


def compile_learning(game: Game) -> None:
    """Compile what builds batches."""
    window = filled_window(game, torch.device("cpu"))
    window.batch(np.zeros(1, np.int64), np.arange(8), stream=np.uint64(1), result_mix=0.5)


if __name__ == "__main__":
    main()
