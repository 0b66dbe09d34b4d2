"""Chess from nothing on one GPU: a spiking and a residual network of equal size, and their match.

    python benchmarks/spiking_chess.py train RUNS --kind resnet --total 24 --minutes 8
    python benchmarks/spiking_chess.py train RUNS --kind spiking --total 24 --minutes 8
    python benchmarks/spiking_chess.py match RUNS --games 200 --simulations 64

`train` trains RUNS/KIND by the recipe chess-gpu, planned for `--total` minutes, and stops after
`--minutes`; the same command again continues it, until the total is reached. Both networks have the
same width and depth, and with them about the same parameters.

`match` plays the newest networks against each other: with equal simulations per move, and with
equal time per move, for which the slower network gets fewer simulations, by the measured speed of
both. Prints a table of both runs (parameters, iterations, games, updates, simulations/s of
self-play and of play, spikes per evaluation), then both results with Elo and its 95 % interval.
"""

import argparse
import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import torch
from heading import print_heading, print_table

from rookery.arena import sample_boards
from rookery.nets import count_parameters, count_spikes
from rookery.training import PlayerSpec, RunFolder, Stats

KINDS = ("resnet", "spiking")
BOARDS = 256
"""Positions on which spikes are counted."""
TIMED_GAMES, TIMED_SECONDS = 1024, 5.0
HEADINGS = [
    "network",
    "parameters",
    "minutes",
    "iterations",
    "games",
    "updates",
    "simulations/s, self-play",
    "simulations/s, play",
    "spikes per evaluation",
]


def train(options: argparse.Namespace) -> None:
    """Train or continue a run for some minutes."""
    path = options.runs / options.kind
    if path.exists():
        command = ["resume", str(path)]
    else:
        settings = [f"net.kind={options.kind}", f"net.width={options.width}"]
        settings += [f"net.depth={options.depth}", *options.set]
        chosen = [word for setting in settings for word in ("--set", setting)]
        limits = ["--minutes", str(options.total), "--recipe", "chess-gpu", *chosen]
        command = ["train", "chess", "--run", str(path), *limits]
    options.runs.mkdir(parents=True, exist_ok=True)
    words = [sys.executable, "-m", "rookery", *command, "--devices", options.devices]
    process = subprocess.Popen(words)
    try:
        code = process.wait(60 * options.minutes)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)  # a clean stop, with a checkpoint
        code = process.wait()
    if code:
        raise SystemExit(code)
    print_table(HEADINGS, [row(path, options.devices, speed=None)])


def match(options: argparse.Namespace) -> None:
    """Play both matches, and print all figures."""
    paths = {kind: options.runs / kind for kind in KINDS}
    speeds = {kind: play_speed(paths[kind], options) for kind in KINDS}
    print_table(HEADINGS, [row(paths[kind], options.devices, speeds[kind]) for kind in KINDS])
    slower = min(speeds, key=lambda kind: speeds[kind])
    fewer = max(1, round(options.simulations * min(speeds.values()) / max(speeds.values())))
    equal = dict.fromkeys(KINDS, options.simulations)
    for name, counts in (("simulations", equal), ("time", {**equal, slower: fewer})):
        players = [f"{paths[kind]}:{counts[kind]}" for kind in reversed(KINDS)]
        limits = ["--games", str(options.games), "--devices", options.devices, "--json"]
        words = [sys.executable, "-m", "rookery", "match", *players, *limits]
        begun = time.perf_counter()
        report = json.loads(
            subprocess.run(words, check=True, text=True, stdout=subprocess.PIPE).stdout
        )
        print(f"equal {name}: {describe(report, counts)}; {time.perf_counter() - begun:.0f} s")


def describe(report: dict[str, Any], counts: dict[str, int]) -> str:
    """Return the result of a match in one line, from the side of the spiking network."""
    total, elo = report["total"], report["difference"]
    simulations = " against ".join(f"{counts[kind]} ({kind})" for kind in reversed(KINDS))
    low, high = ("unbounded" if each is None else f"{each:+.0f}" for each in interval(elo))
    return (
        f"{simulations} simulations per move: +{total['wins']} ={total['draws']} "
        f"-{total['losses']}, {elo['elo']:+.0f} Elo ({low} to {high}), "
        f"{report['distinct_games']} distinct games"
    )


def interval(elo: dict[str, Any]) -> tuple[float | None, float | None]:
    """Return the ends of the 95 % interval; None if unbounded."""
    return elo["low"], elo["high"]


def row(path: Path, devices: str, speed: float | None) -> list[str]:
    """Return the figures of a run."""
    folder = RunFolder(path)
    lines = [line for line in Stats(path).lines() if line["kind"] == "iteration"]
    played = [line["selfplay"] for line in lines]
    searched = sum(each["simulations"] for each in played)
    seconds = sum(each["seconds"] for each in played)
    learned = [line["learning"] for line in lines if line["learning"]]
    net = folder.load_weights().build().to(devices)
    boards = torch.from_numpy(sample_boards(folder.game, BOARDS)).to(devices)
    spikes = count_spikes(net, boards)
    return [
        str(folder.config.net),
        f"{count_parameters(net):,}",
        f"{lines[-1]['seconds'] / 60:.1f}" if lines else "0",
        f"{len(lines):,}",
        f"{sum(each['games'] for each in played):,}",
        f"{sum(each['updates'] for each in learned):,}",
        f"{searched / max(seconds, 1e-9):,.0f}",
        "-" if speed is None else f"{speed:,.0f}",
        "-" if spikes is None else f"{spikes.mean:,.0f} ({spikes.rate:.1%})",
    ]


def play_speed(path: Path, options: argparse.Namespace) -> float:
    """Return the simulations per second of many games at once, as in a match."""
    folder = RunFolder(path)
    newest = max((path / "weights").glob("*.safetensors")).read_bytes()
    spec = PlayerSpec(
        "net",
        name=path.name,
        simulations=options.simulations,
        search=folder.config.search,
        weights=newest,
        devices=options.devices,
    )
    player, states = spec.player(folder.game, seed=1), folder.game.new_states(TIMED_GAMES)
    player.choose(states)
    moves, begun = 0, time.perf_counter()
    while time.perf_counter() - begun < TIMED_SECONDS:
        player.choose(states)
        moves += TIMED_GAMES
    return float(moves * options.simulations / (time.perf_counter() - begun))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    steps = parser.add_subparsers(required=True)
    first = steps.add_parser("train", help="train or continue one of the networks")
    first.add_argument("--kind", choices=KINDS, required=True)
    first.add_argument("--total", type=float, default=24.0, help="minutes of the whole run")
    first.add_argument("--minutes", type=float, default=8.0, help="minutes of this step")
    first.add_argument("--width", type=int, default=128)
    first.add_argument("--depth", type=int, default=6)
    first.add_argument("--set", action="append", default=[], metavar="SETTING")
    first.set_defaults(step=train)
    second = steps.add_parser("match", help="let both networks play each other")
    second.add_argument("--games", type=int, default=200)
    second.add_argument("--simulations", type=int, default=64)
    second.set_defaults(step=match)
    for step in (first, second):
        step.add_argument("runs", type=Path)
        step.add_argument("--devices", default="cuda:0")
    options = parser.parse_args()
    print_heading()
    options.step(options)


if __name__ == "__main__":
    main()
