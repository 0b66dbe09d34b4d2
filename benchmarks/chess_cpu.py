"""Self-play of chess on two cores: Rookery compared with python-chess and a search over dicts.

All play with the same untrained residual network, 32 simulations per move, one process on each
core with one thread, and the whole loop is timed: search, moves, new games, training samples.

    rookery       our self-play, as many games in step as are best
    dictionaries  alpha-zero-general's manner (see dict_mcts), one position at a time, the net as
                  torch has it in float32
    folded        the same with our folded float32 net, which that manner does not know

They take turns, in several rounds; compiling and the first moves are not timed.

    python benchmarks/chess_cpu.py --net 32x4

Prints a line for each contestant after each round, the median of the rounds so far: positions a
second by the clock, and by processor time, as if the cores were free; then ratios of the second,
which is the one to trust when other work runs on the machine.
"""

import argparse
import multiprocessing
import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

THREADS = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
"""Read by the libraries when they are imported, which is why that happens in functions."""
QUICK_MOVES = 40
DICTIONARY_MOVES = 3


@dataclass(frozen=True)
class Rate:
    """What all cores did together, a second."""

    by_clock: float
    """Positions searched and kept."""
    by_processor: float
    """The same if every process had its core for itself."""
    evaluations: float
    """Positions the net was asked about, by processor."""


More = Callable[[], tuple[int, int]]
"""Plays on; the positions and evaluations that it took."""


def new_net(options: argparse.Namespace) -> tuple[Any, Any]:
    """The game and the net."""
    from rookery.games import load_game
    from rookery.nets import NetConfig, build_net

    rules, (width, depth) = load_game("chess"), map(int, options.net.split("x"))
    config = NetConfig(width=width, depth=depth, value_width=64)
    cells = rules.policy_cells
    return rules, build_net(config, rules.planes_shape, rules.num_actions, policy_cells=cells)


def bare_forwards(evaluator: Any, batch: int, seconds: float) -> float:
    """Evaluations per second of processor time, of the net alone."""
    import numpy as np

    planes = np.random.default_rng(0).random((batch, *evaluator.planes_shape), np.float32)
    planes, start, calls = (planes < 0.3).astype(np.float32), time.process_time(), 0
    while (elapsed := time.process_time() - start) < seconds:
        evaluator(planes)
        calls += 1
    return calls * batch / elapsed


def rookery(options: argparse.Namespace, seed: int) -> More:
    """Our self-play, some moves into the games."""
    from rookery.nets import CpuEvaluator
    from rookery.search import SearchConfig
    from rookery.selfplay import CpuSelfPlay, SelfPlayConfig

    rules, net = new_net(options)
    evaluator = CpuEvaluator(
        net, rules.planes_shape, backend=options.method, batch_size=options.games, threads=1
    )
    params = SelfPlayConfig(
        games=options.games, simulations=f"1, {options.simulations}@0.5", opening_share=0.0
    )
    selfplay = CpuSelfPlay(rules, evaluator, config=params, search=SearchConfig(), seed=seed)
    selfplay.play(QUICK_MOVES, progress=0.0, iteration=0)
    forwards = bare_forwards(evaluator, options.games, options.seconds / 4)
    print(f"    on this core: {evaluator.backend}, bare forward {forwards:.0f}/s", flush=True)

    def more() -> tuple[int, int]:
        report = selfplay.play(1, progress=1.0, iteration=0).report
        return report.positions, report.evaluations

    return more


def dictionaries(options: argparse.Namespace, seed: int, *, is_folded: bool) -> More:
    """Games one after the other, in the manner of alpha-zero-general."""
    import torch
    from dict_mcts import play_games

    from rookery.nets import CpuEvaluator

    rules, net = new_net(options)
    net.eval()
    folded = CpuEvaluator(net, rules.planes_shape, backend="float32", batch_size=1, threads=1)

    @torch.inference_mode()
    def as_it_is(planes: Any) -> tuple[Any, Any]:
        logits, wdl = net(torch.from_numpy(planes))
        return logits.numpy(), wdl.softmax(1).numpy()

    forward = folded if is_folded else as_it_is

    def evaluate(planes: Any) -> tuple[Any, float]:
        logits, wdl = forward(planes[None])
        return logits[0], float(wdl[0, 0] - wdl[0, 2])

    games = play_games(evaluate, options.simulations, seed=seed)
    for _ in range(DICTIONARY_MOVES):
        next(games)

    def more() -> tuple[int, int]:
        evaluations, samples = next(games)
        return int(samples == 0), evaluations

    return more


def work(name: str, core: int, options: argparse.Namespace, together: Any, answers: Any) -> None:
    """A process: one contestant on one core."""
    import torch

    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {core})
    torch.set_num_threads(1)
    is_ours = name == "rookery"
    more = (
        rookery(options, core)
        if is_ours
        else dictionaries(options, core, is_folded=name == "folded")
    )
    more()
    together.wait()
    positions = evaluations = 0
    start, used = time.perf_counter(), time.process_time()
    while (elapsed := time.perf_counter() - start) < options.seconds:
        moved, asked = more()
        positions, evaluations = positions + moved, evaluations + asked
    used = time.process_time() - used
    answers.put(Rate(positions / elapsed, positions / used, evaluations / used))


def on_all_cores(name: str, options: argparse.Namespace) -> Rate:
    """One round of a contestant: one process per core, started together; return the sum."""
    context = multiprocessing.get_context("spawn")
    together, answers = context.Barrier(options.cores), context.Queue()
    processes = [
        context.Process(target=work, args=(name, core, options, together, answers), daemon=True)
        for core in range(options.cores)
    ]
    for process in processes:
        process.start()
    rates = [answers.get(timeout=options.limit) for _ in processes]
    for process in processes:
        process.join()
    return Rate(
        sum(rate.by_clock for rate in rates),
        sum(rate.by_processor for rate in rates),
        sum(rate.evaluations for rate in rates),
    )


def median(rates: list[Rate]) -> float:
    return statistics.median(rate.by_processor for rate in rates)


def tell(name: str, rates: list[Rate], options: argparse.Namespace) -> None:
    """A line about a contestant."""
    free, clock = [r.by_processor for r in rates], [r.by_clock for r in rates]
    asked = statistics.median(rate.evaluations for rate in rates)
    print(
        f"{name}: {statistics.median(clock):.1f} positions/s ({min(clock):.1f} to "
        f"{max(clock):.1f}); by processor time {median(rates):.1f} ({min(free):.1f} to "
        f"{max(free):.1f}), {median(rates) * options.simulations:.0f} simulations/s, "
        f"{asked:.0f} evaluations/s",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--net", default="32x4", help="width x depth")
    parser.add_argument("--simulations", type=int, default=32)
    parser.add_argument("--games", type=int, default=64, help="of ours in step, on each core")
    parser.add_argument("--method", default="auto", help="how our net runs; auto measures")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=8.0, help="length of a round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=240.0, help="seconds a round may take")
    parser.add_argument("--only", default="rookery,dictionaries,folded", help="who takes part")
    options = parser.parse_args()
    os.environ.update(THREADS)
    names = options.only.split(",")
    rates: dict[str, list[Rate]] = {name: [] for name in names}
    for _ in range(options.rounds):
        for name in names:
            rates[name].append(on_all_cores(name, options))
            tell(name, rates[name], options)
    for name in names[1:]:
        print(f"ratio {names[0]} / {name}: {median(rates[names[0]]) / median(rates[name]):.1f}")


if __name__ == "__main__":
    main()
