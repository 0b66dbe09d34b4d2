"""Self-play of Connect Four on one GPU: Rookery compared with mctx + pgx and the bare network.

Everybody plays with the same untrained residual nets and the same number of simulations; the whole
loop is timed, records on the host included, compiling is not. Each contestant and setting is a
process of its own, several stretches long; the best batch of each counts.

    python benchmarks/gpu_selfplay.py --peers-python PYTHON

PYTHON is an interpreter with jax for CUDA, mctx and pgx; without it we play alone. Prints a line
per setting: the medians, their spread, ours against theirs, and ours against our bare forward.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from dataclasses import asdict
from functools import partial
from typing import Any

from mctx_pgx import POLICY_CHANNELS, VALUE_WIDTH, Rate, Setting, mctx_rates

SIMULATIONS = (32, 128)
PLIES = {"rookery": 8, "mctx": 2}
WARM_UP_MOVES = 6


def bare_forwards(evaluator: Any, shape: tuple[int, ...], seconds: float) -> float:
    """Evaluations per second of the net alone, captured in a graph, on boards of random stones.

    On empty boards the device draws less power and runs faster, which no game allows.
    """
    import torch

    from rookery.gpu import Graph

    planes = (torch.rand(shape, device=evaluator.device) < 0.3).float()
    graph = Graph(lambda: evaluator.forward(planes) and None, evaluator.device)
    torch.cuda.synchronize()
    start, calls = time.perf_counter(), 0
    while (elapsed := time.perf_counter() - start) < seconds:
        for _ in range(20):
            graph()
        torch.cuda.synchronize()
        calls += 20
    return calls * len(planes) / elapsed


def rookery_rates(setting: Setting, seconds: float, *, rounds: int, inference: str) -> list[Rate]:
    """Stretches of our self-play in one process."""
    from rookery.games import load_game
    from rookery.gpu import find_device, use_device
    from rookery.nets import GpuEvaluator, NetConfig, build_net
    from rookery.replay import to_columns
    from rookery.search import SearchConfig
    from rookery.selfplay import GpuSelfPlay, SelfPlayConfig

    device, rules = find_device("cuda:0"), load_game("connect4")
    use_device(device)
    config = NetConfig(
        width=setting.width,
        depth=setting.depth,
        policy_channels=POLICY_CHANNELS,
        value_width=VALUE_WIDTH,
    )
    net = build_net(config, rules.planes_shape, rules.num_actions)
    evaluator = GpuEvaluator(net, rules.planes_shape, device=device, backend=inference)
    shape = (setting.batch, *rules.planes_shape)
    forwards = bare_forwards(evaluator.selfplay_evaluator, shape, seconds / 2)
    selfplay = GpuSelfPlay(
        rules,
        evaluator.selfplay_evaluator,
        config=SelfPlayConfig(
            games=setting.batch, simulations=str(setting.simulations), opening_share=0.0
        ),
        search=SearchConfig(),
        moves=setting.plies,
        seed=0,
    )
    selfplay.play_waves(WARM_UP_MOVES, progress=0.0)
    _, before = selfplay.collect(0).fetch()
    rates = []
    for _ in range(rounds):
        start = time.perf_counter()
        while (elapsed := time.perf_counter() - start) < seconds:
            selfplay.play_waves(setting.plies, progress=0.0)
            rows, after = selfplay.collect(0).fetch()
            to_columns(rows)
        positions = (after.positions - before.positions) / elapsed
        asked = (after.evaluations - before.evaluations) / elapsed
        label = f"batch {setting.batch} {evaluator.backend}"
        rates.append(Rate(positions, asked, forwards, label))
        before = after
    return rates


def ask_process(name: str, setting: Setting, options: argparse.Namespace) -> list[Rate]:
    """The stretches of one contestant; none if it failed, and says why."""
    python = sys.executable if name == "rookery" else options.peers_python
    numbers = ",".join(str(number) for number in asdict(setting).values())
    command = [python, __file__, "--player", name, "--setting", numbers]
    command += ["--seconds", str(options.seconds), "--rounds", str(options.rounds)]
    command += ["--inference", options.inference]
    environment = os.environ | {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["failed silently"])[-1]
        print(f"{name} {numbers}: {reason}", flush=True)
        return []
    return [Rate(**rate) for rate in json.loads(done.stdout.splitlines()[-1])]


def best_batch(
    name: str, options: argparse.Namespace, *, width: int, depth: int, simulations: int
) -> list[Rate]:
    """The stretches at the batch where the median is highest."""
    batches = options.our_batches if name == "rookery" else options.their_batches
    found = [
        ask_process(name, Setting(width, depth, simulations, int(batch), PLIES[name]), options)
        for batch in batches.split(",")
    ]
    found = [rates for rates in found if rates]
    return max(found, key=lambda rates: median(rates), default=[])


def median(rates: list[Rate]) -> float:
    return statistics.median(rate.positions for rate in rates)


def describe(name: str, rates: list[Rate], simulations: int) -> str:
    """One contestant in words."""
    if not rates:
        return f"{name} did not run"
    millions = [rate.positions * simulations / 1e6 for rate in rates]
    asked = statistics.median(rate.evaluations / rate.forwards for rate in rates)
    return (
        f"{name} {statistics.median(millions):.2f} M simulations/s "
        f"({min(millions):.2f} to {max(millions):.2f}; {rates[0].setting}; bare forward "
        f"{rates[0].forwards / 1e6:.2f} M/s; simulations "
        f"{statistics.median(millions) * 1e6 / rates[0].forwards:.2f} and evaluations "
        f"{asked:.2f} of it)"
    )


def compare(options: argparse.Namespace) -> None:
    """All settings, a line each."""
    for net in options.nets.split(","):
        width, depth = map(int, net.split("x"))
        for simulations in SIMULATIONS:
            shape = {"width": width, "depth": depth, "simulations": simulations}
            ours = best_batch("rookery", options, **shape)
            theirs = best_batch("mctx", options, **shape) if options.peers_python else []
            line = f"c{width}b{depth}, {simulations} simulations: "
            line += describe("rookery", ours, simulations)
            if options.peers_python:
                line += "; " + describe("mctx + pgx", theirs, simulations)
            if ours and theirs:
                line += f"; ratio {median(ours) / median(theirs):.2f}"
            print(line, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers-python", help="interpreter with jax for CUDA, mctx and pgx")
    parser.add_argument("--nets", default="128x5,64x4", help="width x depth of each")
    parser.add_argument("--our-batches", default="8192,16384")
    parser.add_argument("--their-batches", default="4096,16384")
    parser.add_argument("--inference", default="auto", help="ours; int8: eight bits")
    parser.add_argument("--seconds", type=float, default=3.0, help="length of a stretch")
    parser.add_argument("--rounds", type=int, default=3, help="stretches of each contestant")
    parser.add_argument("--player", help=argparse.SUPPRESS)
    parser.add_argument("--setting", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.player:
        compare(options)
        return
    setting = Setting(*map(int, options.setting.split(",")))
    ours = partial(rookery_rates, inference=options.inference)
    player = ours if options.player == "rookery" else mctx_rates
    rates = player(setting, options.seconds, rounds=options.rounds)
    print(json.dumps([asdict(rate) for rate in rates]))


if __name__ == "__main__":
    main()
