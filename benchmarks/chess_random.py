"""Random games of chess, one move per step: our rules compared with pgx, on one GPU and one core.

A step draws one of the legal moves, makes it and begins a new game where that ended. Two figures
of ours: with all of the rules, repetition and insufficient material too, as pgx plays; and legal
moves and making one alone, where games end without a move or after fifty quiet ones. pgx draws its
moves with one random number a game, and its observation is left out. Compiling and the first steps
are not timed; the games have been under way for some 200 moves.

    python benchmarks/chess_random.py --peers-python PYTHON --on gpu,core

PYTHON is an interpreter with jax (for CUDA), mctx and pgx, whose compiling comes first, for all
batches at once (`--stage prepare` does only that). Prints a line for each contestant; on a core,
steps per second of processor time.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import players

WARM_UP_STEPS = 200
STEPS = {"rookery": 64, "pgx": 16}  # a call
ONE_CORE = {
    "OMP_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    "JAX_PLATFORMS": "cpu",
}


def steps_per_second(
    run: Callable[[int], None], games: int, *, steps: int, options: argparse.Namespace
) -> list[float]:
    """Stretches of `run(steps)`, which makes so many steps in all games and waits for them."""
    run(steps)
    for _ in range(WARM_UP_STEPS // steps):
        run(steps)
    is_core, rates = options.player.endswith("core"), []
    now = time.process_time if is_core else time.perf_counter  # cores may have other work
    for _ in range(options.rounds):
        start, calls = now(), 0
        while (elapsed := now() - start) < options.seconds:
            run(steps)
            calls += 1
        rates.append(calls * steps * games / elapsed)
    return rates


def rookery_anywhere(options: argparse.Namespace) -> list[float]:
    """Our rules."""
    from chess_random_ours import on_core, on_gpu

    if options.player.endswith("core"):
        run = on_core(options.batch, whole=options.whole)
    else:
        run = on_gpu(options.batch, whole=options.whole, device_name=options.device)
    return steps_per_second(run, options.batch, steps=options.steps, options=options)


def pgx_play(env: Any, steps: int) -> Any:
    """Compiled, makes `steps` steps: (states, key) -> (states, key)."""
    import jax
    import jax.numpy as jnp
    from pgx.experimental import auto_reset

    step = auto_reset(env.step, env.init)

    def move(state: Any, key: Any) -> Any:
        draw_key, step_key = jax.random.split(key)
        ranks = jnp.cumsum(state.legal_action_mask)
        drawn = jax.random.randint(draw_key, (), 0, ranks[-1])
        state = step(state, jnp.argmax(ranks > drawn), step_key)
        return state.replace(observation=jnp.zeros_like(state.observation))

    def play(states: Any, key: Any) -> Any:
        def one(states: Any, key: Any) -> Any:
            return jax.vmap(move)(states, jax.random.split(key, len(states.terminated))), None

        key, scan_key = jax.random.split(key)
        return jax.lax.scan(one, states, jax.random.split(scan_key, steps))[0], key

    return jax.jit(play)


def pgx_anywhere(options: argparse.Namespace) -> list[float]:
    """pgx on jax's device."""
    import jax
    import pgx

    env = pgx.make("chess")
    states = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.key(0), options.batch))
    key, play = jax.random.key(1), pgx_play(env, options.steps)
    if options.compile_only:
        play.lower(states, key).compile()
        return []

    def run(_: int) -> None:
        nonlocal states, key
        states, key = jax.block_until_ready(play(states, key))

    return steps_per_second(run, options.batch, steps=options.steps, options=options)


def begin_process(name: str, batch: int, options: argparse.Namespace, *extra: str) -> Any:
    """A contestant; on a core, bound to one."""
    python = options.peers_python if name.startswith("pgx") else sys.executable
    is_core = name.endswith("core")
    steps = STEPS[name.split()[0]]
    command = [python, "-W", "ignore", __file__, "--player", name, "--batch", str(batch)]
    command += ["--seconds", str(options.seconds), "--rounds", str(options.rounds)]
    command += ["--steps", str(steps), "--device", options.device, "--core", str(options.core)]
    command += extra
    caches = {"JAX_COMPILATION_CACHE_DIR": options.cache, "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    return players.begin(command, environment=caches | (ONE_CORE if is_core else {}))


def tell(name: str, batch: int, options: argparse.Namespace, *extra: str) -> None:
    """A line about one contestant."""
    label = f"{name}{', all rules' * ('--whole' in extra)}, {batch:,} games"
    process = begin_process(name, batch, options, *extra)
    lines = players.end(process, label, limit_seconds=options.limit)
    if lines:
        millions = [rate / 1e6 for rate in json.loads(lines[-1])]
        middle, low, high = statistics.median(millions), min(millions), max(millions)
        print(f"{label}: {middle:.4g} M steps/s ({low:.4g} to {high:.4g})", flush=True)


def compile_peers(options: argparse.Namespace) -> None:
    """Have pgx compiled into the cache for all batches at once."""
    names = [(f"pgx {place}", batch) for place, batch in places(options)]
    begun = [begin_process(name, batch, options, "--compile-only") for name, batch in names]
    for (name, batch), process in zip(names, begun, strict=True):
        players.end(process, f"{name}, {batch:,} games", limit_seconds=options.compile_limit)


def places(options: argparse.Namespace) -> list[tuple[str, int]]:
    """Where games are played, and how many at once."""
    batches = {"gpu": options.gpu_batches, "core": options.core_batches}
    wanted = options.on.split(",")
    return [(place, int(batch)) for place in wanted for batch in batches[place].split(",")]


def compare(options: argparse.Namespace) -> None:
    """Everybody everywhere, a line each."""
    if options.peers_python and options.stage != "measure":
        compile_peers(options)
    if options.stage == "prepare":
        return
    for place, batch in places(options):
        tell(f"rookery {place}", batch, options)
        tell(f"rookery {place}", batch, options, "--whole")
        if options.peers_python:
            tell(f"pgx {place}", batch, options)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers-python", help="interpreter with jax, mctx and pgx")
    parser.add_argument("--on", default="gpu,core", help="gpu, core or both")
    parser.add_argument("--gpu-batches", default="4096,16384,65536", help="games at once")
    parser.add_argument("--core-batches", default="256", help="games at once")
    parser.add_argument("--seconds", type=float, default=1.0, help="length of a stretch")
    parser.add_argument("--rounds", type=int, default=3, help="stretches of each contestant")
    parser.add_argument("--limit", type=float, default=90.0, help="seconds a process may take")
    parser.add_argument("--compile-limit", type=float, default=300.0, help="seconds")
    parser.add_argument("--stage", default="both", choices=("prepare", "measure", "both"))
    parser.add_argument("--compile-only", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--cache", default="", help="folder of what jax compiles; kept")
    parser.add_argument("--core", type=int, default=0, help="the core to run on")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--whole", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--steps", type=int, default=64, help=argparse.SUPPRESS)
    parser.add_argument("--player", help=argparse.SUPPRESS)
    parser.add_argument("--batch", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.player:
        if options.player.endswith("core") and hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, {options.core})
        is_ours = options.player.startswith("rookery")
        print(json.dumps((rookery_anywhere if is_ours else pgx_anywhere)(options)))
        return
    with tempfile.TemporaryDirectory() as folder:
        options.cache = options.cache or folder
        compare(options)


if __name__ == "__main__":
    main()
