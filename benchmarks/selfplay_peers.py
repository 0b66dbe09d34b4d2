"""Self-play of Connect Four on one core: Rookery, mctx with pgx, alpha-zero-general.

Everybody plays with a residual net, of width 32 and depth 3 unless `--net` says otherwise (an
untrained one: every move is equally good to it), 32 simulations per move, and the whole loop is
timed: search, moves, new games, training samples brought to the host. Compiling and the first games
are not.

    mctx                Gumbel search on pgx's rules with auto-reset, one compiled scan; the better
                        of batches 64 and 256 and of float32 and bfloat16; batch norm folded
    alpha-zero-general  its Coach, MCTS and Connect4Game as they are, one board at a time, on our
                        folded float32 net in torch; a checkout of
                        github.com/suragnair/alpha-zero-general that you make yourself
    rookery             our self-play
    rookery in 8 bits   the same with `run.inference=int8`, on x86 processors

Each contestant is a process of its own, bound to one core. They take turns, in several rounds.

    python benchmarks/selfplay_peers.py --peers-python PYTHON --alpha-zero-general DIR \
        [--net 64x4]

PYTHON is an interpreter with jax, mctx and pgx; a contestant whose option is missing is left out.
"""

import argparse
import importlib
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import types
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mctx_pgx import (
    DTYPES,
    POLICY_CHANNELS,
    VALUE_WIDTH,
    Rate,
    Setting,
    calls_per_second,
    mctx_rates,
)

SIMULATIONS = 32
BACKENDS = {"rookery": "auto", "rookery in 8 bits": "int8"}
"""Our contestants, and how they evaluate the net."""
BATCHES = (64, 256)
PLIES_PER_CALL = 8
THREADS = {
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    "JAX_PLATFORMS": "cpu",
}
"""Read by the libraries when they are imported, which is why that happens in functions."""
NetSize = tuple[int, int]
"""Width and depth."""
START_SECONDS = 240  # what a contestant may take to import and compile on a busy machine


# Ours.


def rookery_rate(seconds: float, *, net_size: NetSize, backend: str) -> Rate:
    """Our self-play, and the bare forward of the same evaluator at the same batch."""
    from rookery.games import load_game
    from rookery.nets import CpuEvaluator, NetConfig, build_net
    from rookery.replay import to_columns
    from rookery.search import SearchConfig
    from rookery.selfplay import CpuSelfPlay, SelfPlayConfig

    rules, batch, (width, depth) = load_game("connect4"), max(BATCHES), net_size
    config = NetConfig(
        width=width, depth=depth, policy_channels=POLICY_CHANNELS, value_width=VALUE_WIDTH
    )
    net = build_net(config, rules.planes_shape, rules.num_actions)
    evaluator = CpuEvaluator(net, rules.planes_shape, backend=backend, batch_size=batch, threads=1)
    params = SelfPlayConfig(games=batch, simulations=str(SIMULATIONS), opening_share=0.0)
    selfplay = CpuSelfPlay(rules, evaluator, config=params, search=SearchConfig(), seed=0)
    planes = rules.planes(rules.random_states(batch, seed=1))
    forwards = batch * calls_per_second(lambda: evaluator(planes), seconds / 4)
    positions = evaluations = 0

    def more() -> None:
        nonlocal positions, evaluations
        played = selfplay.play(PLIES_PER_CALL, progress=0.0, iteration=0)
        to_columns(played.rows)
        positions += played.report.positions
        evaluations += played.report.evaluations

    calls = calls_per_second(more, seconds)
    per_call = batch * PLIES_PER_CALL
    asked = calls * per_call * evaluations / positions
    return Rate(calls * per_call, asked, forwards, f"batch {batch} {evaluator.backend}")


# alpha-zero-general.


def import_alpha_zero_general(folder: Path) -> tuple[type, type]:
    """Its Coach and Connect4Game, mended from outside for a numpy without `np.int`."""
    import numpy as np

    if not (folder / "Coach.py").is_file():
        raise SystemExit(f"{folder} has no Coach.py; give a checkout of alpha-zero-general")
    sys.path.insert(0, str(folder))
    if importlib.util.find_spec("tqdm") is None:  # it only draws progress, in loops not used here
        sys.modules["tqdm"] = types.SimpleNamespace(tqdm=iter)  # type: ignore[assignment]
    np.int = int  # type: ignore[attr-defined]
    coach = importlib.import_module("Coach").Coach
    base = importlib.import_module("connect4.Connect4Game").Connect4Game

    class Connect4Game(base):  # type: ignore[misc,valid-type]
        def stringRepresentation(self, board: Any) -> bytes:
            return bytes(board.tobytes())

    return coach, Connect4Game


def alpha_zero_general_rate(seconds: float, *, net_size: NetSize, folder: Path) -> Rate:
    """Whole games of alpha-zero-general, one after the other."""
    import numpy as np

    from rookery.nets import CpuEvaluator, NetConfig, build_net

    coach_class, game_class = import_alpha_zero_general(folder)
    shape, asked, (width, depth) = (2, 6, 7), 0, net_size
    config = NetConfig(
        width=width, depth=depth, policy_channels=POLICY_CHANNELS, value_width=VALUE_WIDTH
    )
    evaluator = CpuEvaluator(
        build_net(config, shape, 7), shape, backend="float32", batch_size=1, threads=1
    )

    class Net:
        """The interface its Coach and MCTS ask for."""

        def __init__(self, game: object) -> None:
            self.game = game

        def predict(self, board: Any) -> tuple[Any, float]:
            nonlocal asked
            asked += 1
            logits, wdl = evaluator(np.stack([board == 1, board == -1]).astype(np.float32)[None])
            policy = np.exp(logits[0] - logits[0].max())
            return policy / policy.sum(), float(wdl[0, 0] - wdl[0, 2])

    empty = np.zeros((1, *shape), np.float32)
    forwards = calls_per_second(lambda: evaluator(empty), seconds / 4)
    game = game_class()
    settings = types.SimpleNamespace(numMCTSSims=SIMULATIONS, cpuct=1.0, tempThreshold=15)
    positions = 0

    def play() -> None:
        nonlocal positions
        samples = coach_class(game, Net(game), settings).executeEpisode()
        positions += len(samples) // 2  # it adds each position's mirror image

    play()
    positions, asked, start = 0, 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        play()
    elapsed = time.perf_counter() - start
    return Rate(positions / elapsed, asked / elapsed, forwards, "batch 1 float32")


# The match.


def contest(name: str, options: argparse.Namespace) -> Rate:
    """One round of one contestant, in this process."""
    if name in BACKENDS:
        return rookery_rate(options.seconds, net_size=options.net, backend=BACKENDS[name])
    if name == "mctx":
        dtypes = DTYPES if options.dtype == "auto" else (options.dtype,)
        width, depth = options.net
        setting = Setting(width, depth, SIMULATIONS, options.batch, PLIES_PER_CALL)
        return mctx_rates(setting, options.seconds, rounds=1, dtypes=dtypes)[0]
    return alpha_zero_general_rate(
        options.seconds, net_size=options.net, folder=options.alpha_zero_general
    )


def ask_process(name: str, python: str, options: argparse.Namespace, *extra: str) -> Rate | None:
    """One round of one contestant in a process of its own; None if it failed, and says why."""
    command = [python, __file__, "--player", name, "--seconds", str(options.seconds)]
    command += ["--core", str(options.core), "--net", "x".join(map(str, options.net)), *extra]
    environment = os.environ | {"JAX_COMPILATION_CACHE_DIR": options.cache}
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            env=environment,
            timeout=START_SECONDS + 3 * options.seconds,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        print(f"{name}: not done within {late.timeout:.0f} s")
        return None
    if done.returncode:
        print(f"{name}: {(done.stderr.strip().splitlines() or ['failed silently'])[-1]}")
        return None
    return Rate(**json.loads(done.stdout.splitlines()[-1]))


def best_mctx_setting(options: argparse.Namespace) -> list[str]:
    """The batch and precision, as options, of mctx's fastest self-play."""
    best, setting = 0.0, []
    for batch in BATCHES:
        extra = ["--batch", str(batch), "--dtype", "auto"]
        rate = ask_process("mctx", options.peers_python, options, *extra)
        if rate is not None and rate.positions > best:
            best, setting = rate.positions, [*extra[:3], rate.setting.split()[-1]]
    return setting


def players(options: argparse.Namespace) -> dict[str, tuple[str, list[str]]]:
    """Interpreter and extra options of everybody who takes part."""
    from rookery.nets import is_int8_supported

    taking_part: dict[str, tuple[str, list[str]]] = {
        name: (sys.executable, [])
        for name, backend in BACKENDS.items()
        if backend != "int8" or is_int8_supported()
    }
    if options.peers_python and (setting := best_mctx_setting(options)):
        taking_part["mctx"] = (options.peers_python, setting)
    if options.alpha_zero_general:
        extra = ["--alpha-zero-general", str(options.alpha_zero_general)]
        taking_part["alpha-zero-general"] = (sys.executable, extra)
    return taking_part


def play_rounds(options: argparse.Namespace) -> dict[str, list[Rate]]:
    """Rates of every round; who fails once does not play on."""
    taking_part = players(options)
    rates: dict[str, list[Rate]] = {}
    for _ in range(options.rounds):
        for name, (python, extra) in list(taking_part.items()):
            rate = ask_process(name, python, options, *extra)
            if rate is None:
                del taking_part[name]
            else:
                rates.setdefault(name, []).append(rate)
    return rates


def report(rates: dict[str, list[Rate]]) -> None:
    """A line per contestant, and a line of ratios of the medians."""
    medians: dict[str, float] = {}
    for name, rounds in rates.items():
        positions = [rate.positions for rate in rounds]
        forwards = statistics.median(rate.forwards for rate in rounds)
        evaluations = statistics.median(rate.evaluations for rate in rounds)
        median = medians[name] = statistics.median(positions)
        print(
            f"{name}: {median:.1f} positions/s ({min(positions):.1f} to {max(positions):.1f}), "
            f"{median * SIMULATIONS:.0f} simulations/s, {evaluations:.0f} evaluations/s, "
            f"{evaluations / forwards:.0%} of the bare forward; {rounds[0].setting}"
        )
    ratios = [
        f"{ours} / {name} {medians[ours] / medians[name]:.2f}"
        for ours in medians.keys() & BACKENDS.keys()
        for name in medians.keys() - BACKENDS.keys()
    ]
    print("ratios:", ", ".join(sorted(ratios)) or "none, no other contestant")


def read_net_size(text: str) -> NetSize:
    """Read "64x4"."""
    width, depth = map(int, text.split("x"))
    return width, depth


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers-python", help="interpreter with jax, mctx and pgx")
    parser.add_argument("--alpha-zero-general", type=Path, help="folder of a checkout")
    parser.add_argument("--net", type=read_net_size, default=(32, 3), help="width x depth")
    parser.add_argument("--seconds", type=float, default=6.0, help="timed part of a round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--core", type=int, default=0, help="the core to run on")
    parser.add_argument("--player", help=argparse.SUPPRESS)
    parser.add_argument("--batch", type=int, default=64, help=argparse.SUPPRESS)
    parser.add_argument("--dtype", default="float32", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.player:
        os.environ.update(THREADS)
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, {options.core})
        print(json.dumps(asdict(contest(options.player, options))))
        return
    with tempfile.TemporaryDirectory() as options.cache:  # mctx compiles in its first round only
        report(play_rounds(options))


if __name__ == "__main__":
    main()
