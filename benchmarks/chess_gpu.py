"""Self-play of chess on one GPU: Rookery compared with mctx + pgx and the bare network.

All play 32 simulations per move with an untrained residual network of width 128 and depth 6; games
end after 512 plies at the latest. The whole loop is timed, records on the host included, compiling
is not. Each contestant and batch is a process of its own, several stretches long; the best batch of
each counts. Ours first plays some 400 quick moves, so that the games are spread from opening to
end; what pgx and mctx do costs the same in every position, and they begin at the start.

    python benchmarks/chess_gpu.py --peers-python PYTHON

PYTHON is an interpreter with jax for CUDA, mctx and pgx; without it we play alone. What is slow to
compile is compiled first, all at once, into caches on disk (`--stage prepare` does only that, and
`--stage measure` relies on it). Prints a line for each contestant and batch, then the ratio, then
where the time of a wave goes.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict
from typing import Any

import players
from chess_wave import wave_times
from gpu_selfplay import bare_forwards
from mctx_pgx import POLICY_CHANNELS, VALUE_WIDTH, Rate, Setting, mctx_compile, mctx_rates

PLIES = {"rookery": 4, "mctx": 1}
MAX_PLIES = 512  # pgx's
QUICK_MOVES = 800  # enough for 400: the root's evaluation is a wave too
COLLECT_EVERY = 100
WARM_UP_GAMES = 32
DTYPE = "bfloat16"


def new_selfplay(setting: Setting, options: argparse.Namespace) -> tuple[Any, Any]:
    """Our games, in the midst of play, and their evaluator."""
    from rookery.games import load_game
    from rookery.gpu import find_device, use_device
    from rookery.nets import GpuEvaluator, NetConfig, build_net
    from rookery.search import SearchConfig
    from rookery.selfplay import GpuSelfPlay, SelfPlayConfig

    device, rules = find_device(options.device), load_game("chess")
    use_device(device)
    config = NetConfig(
        width=setting.width,
        depth=setting.depth,
        policy_channels=POLICY_CHANNELS,
        value_width=VALUE_WIDTH,
    )
    cells = rules.policy_cells
    net = build_net(config, rules.planes_shape, rules.num_actions, policy_cells=cells)
    evaluator = GpuEvaluator(net, rules.planes_shape, device=device, backend=options.inference)
    params = SelfPlayConfig(
        games=setting.batch,
        simulations=f"1, {setting.simulations}@0.5",
        opening_share=options.opening_share,
        opening_plies=8,
        max_plies=MAX_PLIES,
    )
    selfplay = GpuSelfPlay(
        rules,
        evaluator.selfplay_evaluator,
        config=params,
        search=SearchConfig(),
        moves=COLLECT_EVERY,
        seed=0,
    )
    for _ in range(options.quick_moves // COLLECT_EVERY):
        selfplay.play_waves(COLLECT_EVERY, progress=0.0)
        selfplay.collect(0)
    selfplay.finish(selfplay.start(PLIES["rookery"], progress=1.0, iteration=0))
    return selfplay, evaluator.selfplay_evaluator


def rookery_rates(setting: Setting, options: argparse.Namespace) -> list[Rate]:
    """Stretches of our self-play in one process, as a run goes: one is fetched, one is played."""
    from rookery.games import load_game
    from rookery.replay import to_columns

    selfplay, evaluator = new_selfplay(setting, options)
    shape = (setting.batch, *load_game("chess").planes_shape)
    forwards = bare_forwards(evaluator, shape, options.seconds / 2)
    label = f"{setting.batch:,} games, {options.inference}"
    pending, rates = selfplay.start(setting.plies, progress=1.0, iteration=0), []
    for _ in range(options.rounds):
        positions, evaluations, start = 0, 0, time.perf_counter()
        while (elapsed := time.perf_counter() - start) < options.seconds:
            following = selfplay.start(setting.plies, progress=1.0, iteration=0)
            played = selfplay.finish(pending)
            to_columns(played.rows)
            positions += played.report.positions
            evaluations += played.report.evaluations
            pending = following
        rates.append(Rate(positions / elapsed, evaluations / elapsed, forwards, label))
    return rates


def print_waves(setting: Setting, options: argparse.Namespace) -> None:
    """Where the time of a wave goes."""
    selfplay, _ = new_selfplay(setting, options)
    wall, parts, kernels = wave_times(selfplay, PLIES["rookery"])
    parts["gaps"] = wall - sum(parts.values())
    words = ", ".join(f"{name} {us:.0f}" for name, us in parts.items())
    print(f"{setting.batch:,} games, microseconds per wave of {wall:.0f}: {words}")
    for name, us in Counter(kernels).most_common(options.kernels):
        print(f"    {us:8.1f}  {name[:120]}")


def contend(options: argparse.Namespace) -> None:
    """What a process of its own does; its last line is for those who asked."""
    width, depth = map(int, options.net.split("x"))
    batch, name = options.batch, options.player
    setting = Setting(width, depth, options.simulations, batch, PLIES.get(name, 1))
    rates: list[Rate] = []
    if name == "rookery":
        rates = rookery_rates(setting, options)
    elif name == "waves":
        print_waves(setting, options)
    elif name == "mctx":
        rates = mctx_rates(
            setting, options.seconds, rounds=options.rounds, dtypes=(DTYPE,), game="chess"
        )
    else:
        mctx_compile(setting, dtype=DTYPE, game="chess")
    print(json.dumps([asdict(rate) for rate in rates]))


def begin_process(name: str, batch: int, options: argparse.Namespace, **changes: float) -> Any:
    """A contestant with the same options but for `changes`."""
    python = options.peers_python if name.startswith("mctx") else sys.executable
    command = [python, "-W", "ignore", __file__, "--player", name, "--batch", str(batch)]
    kept = ("net", "inference", "simulations", "seconds", "rounds", "device", "opening_share")
    for option in (*kept, "quick_moves", "kernels"):
        value = changes.get(option, getattr(options, option))
        command += [f"--{option.replace('_', '-')}", str(value)]
    caches = {"JAX_COMPILATION_CACHE_DIR": options.cache, "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    return players.begin(command, environment=caches)


def prepare(options: argparse.Namespace) -> list[int]:
    """Compile everything at once; the batches of mctx that were done in time."""
    begun = time.perf_counter()
    quick = {"rounds": 1, "seconds": 0.01, "quick_moves": 0}
    ours = begin_process("rookery", WARM_UP_GAMES, options, **quick)
    batches = numbers(options.their_batches) if options.peers_python else []
    theirs = {batch: begin_process("mctx-compile", batch, options) for batch in batches}
    players.end(ours, "rookery, compiling", limit_seconds=options.compile_limit)
    print(f"rookery, compiling: {time.perf_counter() - begun:.0f} s", flush=True)
    ready = []
    for batch, process in theirs.items():
        left = options.compile_limit - (time.perf_counter() - begun)
        label = f"mctx + pgx, compiling for {batch:,} games"
        if players.end(process, label, limit_seconds=left):
            print(f"{label}: {time.perf_counter() - begun:.0f} s at most", flush=True)
            ready.append(batch)
    return ready


def numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",") if number]


def ask_process(name: str, batch: int, options: argparse.Namespace) -> list[Rate]:
    """The stretches of one contestant, told in a line; none if it failed."""
    label = {"rookery": "rookery", "mctx": "mctx + pgx"}[name]
    process = begin_process(name, batch, options)
    lines = players.end(process, f"{label}, {batch:,} games", limit_seconds=options.limit)
    rates = [Rate(**rate) for rate in json.loads(lines[-1])] if lines else []
    if rates:
        print(f"{label}, {describe(rates, options.simulations)}", flush=True)
    return rates


def median(rates: list[Rate]) -> float:
    return statistics.median(rate.positions for rate in rates)


def describe(rates: list[Rate], simulations: int) -> str:
    """The stretches of one contestant in words."""
    millions = [rate.positions * simulations / 1e6 for rate in rates]
    asked = statistics.median(rate.evaluations for rate in rates) / 1e6
    forwards, middle = rates[0].forwards / 1e6, statistics.median(millions)
    return (
        f"{rates[0].setting}: {middle:.3f} M simulations/s ({min(millions):.3f} to "
        f"{max(millions):.3f}), {asked:.3f} M evaluations/s; bare forward {forwards:.3f} M/s: "
        f"simulations {middle / forwards:.3f} and evaluations {asked / forwards:.3f} of it"
    )


def best(found: list[list[Rate]]) -> list[Rate]:
    """The stretches at the batch where the median is highest."""
    return max(filter(None, found), key=median, default=[])


def measure(options: argparse.Namespace, ready: list[int]) -> None:
    """Everybody at every batch, then the ratio of the best ones, then a wave."""
    ours = best([ask_process("rookery", batch, options) for batch in numbers(options.our_batches)])
    theirs = best([ask_process("mctx", batch, options) for batch in ready])
    if ours and theirs:
        ratio = median(ours) / median(theirs)
        whose = f"rookery at {ours[0].setting}; mctx + pgx at {theirs[0].setting}"
        print(f"ratio: {ratio:.1f} ({whose})", flush=True)
    if options.wave_batch:
        process = begin_process("waves", options.wave_batch, options)
        lines = players.end(process, "waves", limit_seconds=options.limit)
        print(*lines[:-1], sep="\n", flush=True)


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers-python", help="interpreter with jax for CUDA, mctx and pgx")
    parser.add_argument("--net", default="128x6", help="width x depth")
    parser.add_argument("--inference", default="auto", help="ours; int8: eight bits")
    parser.add_argument("--simulations", type=int, default=32)
    parser.add_argument("--our-batches", default="4096,8192,16384")
    parser.add_argument("--their-batches", default="1024,4096,2048,512,256")
    parser.add_argument("--wave-batch", type=int, default=8192, help="0: do not look at waves")
    parser.add_argument("--kernels", type=int, default=0, help="kernels to name under the wave")
    parser.add_argument("--seconds", type=float, default=2.0, help="length of a stretch")
    parser.add_argument("--rounds", type=int, default=3, help="stretches of each contestant")
    parser.add_argument("--limit", type=float, default=90.0, help="seconds a process may take")
    parser.add_argument("--compile-limit", type=float, default=300.0, help="seconds, all together")
    parser.add_argument("--opening-share", type=float, default=0.0, help="games of ours with one")
    parser.add_argument("--quick-moves", type=int, default=QUICK_MOVES, help=argparse.SUPPRESS)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--stage", default="both", choices=("prepare", "measure", "both"))
    parser.add_argument("--cache", default="", help="folder of what jax compiles; kept")
    parser.add_argument("--player", help=argparse.SUPPRESS)
    parser.add_argument("--batch", type=int, default=0, help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    options = read_options()
    if options.player:
        contend(options)
        return
    with tempfile.TemporaryDirectory() as folder:
        options.cache = options.cache or folder
        is_ready = options.stage == "measure" and options.peers_python
        ready = numbers(options.their_batches) if is_ready else []
        if options.stage != "measure":
            ready = prepare(options)
        if options.stage != "prepare":
            measure(options, ready)


if __name__ == "__main__":
    main()
