"""Spiking and residual networks: the same rows, sizes and updates, timed and measured.

    python benchmarks/spiking.py RUN [--device cpu] [--updates 192] [--seconds 60] [--steps 4]

RUN is the folder of a finished `rookery train connect4 --run RUN`. A residual net, and a spiking
one for each number of steps, learn its rows from the same beginning. Prints a table, a line each:

    parameters, boards/s of the fast forward and rows/s of learning, spikes an evaluation and their
    rate; then loss and errors (Connect Four, all groups; bare net and with 32 simulations) after
    the same number of updates, and after the same time spent on learning

`--clock cpu --threads 1` counts processor time instead, for machines that others use as well.
"""

import argparse
import os
import time
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from learners import Bench, Lesson
from torch import nn

from rookery.arena import SearchPlayer, sample_boards, strength_test_for
from rookery.nets import CpuEvaluator, GpuEvaluator, build_net, count_parameters, count_spikes
from rookery.search import SearchConfig
from rookery.training import apply

CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}
STEP = 16
"""Updates between two looks at the clock."""
WARM_UP = 2
BATCH = 512
SIMULATIONS = 32
FORWARD_SECONDS = 3.0
HEADINGS = (
    "net",
    "parameters",
    "boards/s forward",
    "rows/s learning",
    "spikes, rate",
    "loss, errors at {updates} updates (bare, 32 simulations)",
    "loss, errors after {seconds:g} s of learning",
)


@dataclass(frozen=True)
class PartResult:
    """A net on its way."""

    net: nn.Module
    updates: int
    seconds: float
    loss: float


class Comparison:
    """The same rows for every kind of net."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options, self.bench = options, Bench(options)
        self.game = self.bench.game
        self.device = self.bench.devices[0]
        self.clock = CLOCKS[options.clock]
        self.boards = sample_boards(self.game, BATCH)

    def line(self, settings: list[str]) -> list[str]:
        """What there is to say of the net that `settings` make."""
        config = apply(self.bench.config, settings)
        shape = (self.game.planes_shape, self.game.num_actions)
        new = build_net(config.net, *shape, seed=1)
        parameters = count_parameters(new)
        lesson = self.bench.local(new, config)
        torch.set_num_threads(self.options.threads)
        by_updates, by_time = self.learn(lesson)
        net, last = by_updates.net, max(by_updates, by_time, key=lambda look: look.updates)
        spikes = count_spikes(net, torch.from_numpy(self.boards))
        return [
            str(config.net),
            f"{parameters:,}",
            self.forward_speed(net),
            f"{(last.updates - WARM_UP) * self.options.batch_size / last.seconds:,.0f}",
            f"{spikes.mean:,.0f}, {spikes.rate:.1%}" if spikes else "-",
            f"{self.strength(by_updates)} ({by_updates.seconds:.0f} s)",
            f"{self.strength(by_time)} ({by_time.updates} updates)",
        ]

    def learn(self, lesson: Lesson) -> tuple[PartResult, PartResult]:
        """Return the averaged network after `options.updates`, and after `options.seconds`."""
        lesson.learn(WARM_UP)
        found: dict[str, PartResult] = {}
        begin, learner = self.clock(), lesson.learner
        while len(found) < 2:
            report = lesson.learn(STEP)
            updates, seconds = learner.updates, self.clock() - begin
            ends = {
                "updates": updates >= self.options.updates,
                "time": seconds >= self.options.seconds,
            }
            for name in (name for name, is_there in ends.items() if is_there and name not in found):
                net = deepcopy(learner.play_net).cpu()
                found[name] = PartResult(net, updates, seconds, report.losses.total)
        return found["updates"], found["time"]

    def forward_speed(self, net: nn.Module) -> str:
        evaluator = self.evaluator(net, "auto")
        best, end = float("inf"), self.clock() + FORWARD_SECONDS
        while self.clock() < end:
            begin = self.clock()
            evaluator(self.boards)
            best = min(best, self.clock() - begin)
        return f"{BATCH / best:,.0f} ({evaluator.backend})"

    def strength(self, look: PartResult) -> str:
        errors = [self.errors(look.net, simulations) for simulations in (0, SIMULATIONS)]
        return f"{look.loss:.3f}, {errors[0]:.1f} %, {errors[1]:.1f} %"

    def errors(self, net: nn.Module, simulations: int) -> float:
        """Share of moves that lose game value, in percent."""
        player = SearchPlayer(
            self.game,
            self.evaluator(net, self.options.inference),
            config=SearchConfig(),
            simulations=simulations,
            seed=1,
            name="net",
        )
        return strength_test_for(self.game).measure(player).errors

    def evaluator(self, net: nn.Module, backend: str) -> Any:
        shape = self.game.planes_shape
        if self.device.type == "cuda":
            return GpuEvaluator(net, shape, device=self.device, backend=backend)
        return CpuEvaluator(net, shape, backend=backend, batch_size=BATCH)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("--device", dest="devices", default="cpu")
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--updates", type=int, default=192)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--steps", default="4", help="of spiking nets, separated by commas")
    parser.add_argument("--inference", default="float32", help="the method that errors are by")
    parser.add_argument("--clock", choices=CLOCKS, default="wall")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--set", action="append", default=[])
    options = parser.parse_args()
    comparison = Comparison(options)
    kinds = [["net.kind=resnet"]]
    kinds += [["net.kind=spiking", f"net.steps={steps}"] for steps in options.steps.split(",")]
    print(" | ".join(HEADINGS).format(**vars(options)))
    for settings in kinds:
        print(" | ".join(comparison.line(settings)), flush=True)


if __name__ == "__main__":
    main()
