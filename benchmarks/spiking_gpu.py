"""Spiking and residual networks of the same sizes on one GPU: inference and learning.

    python benchmarks/spiking_gpu.py [--game connect4] [--width 128] [--depth 5] [--steps 4]
        [--batches 256,1024,4096] [--backends float16,fused-float16]

Prints a table: boards/s of captured forward passes, whose boards are in device memory; then rows/s
of captured updates in bfloat16, for the spiking network with and without the kernels that fuse its
time steps. Each number is the median of 5 trials; in brackets are the slowest and the fastest.
"""

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from unittest.mock import patch

import torch
from gpu_learning import filled_window
from heading import print_heading, print_table

from rookery.games import Game, load_game
from rookery.gpu import Graph, find_device, use_device
from rookery.learning import GpuLearner, LearningConfig
from rookery.nets import GpuEvaluator, NetConfig, build_net

TRIALS = 5
STONES = 0.3
"""Share of cells with a stone on the boards that are evaluated."""


class Comparison:
    """The rows of the table."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.game: Game = load_game(options.game)
        self.device = find_device(options.device)
        use_device(self.device)

    def inference(self) -> Iterator[list[str]]:
        """Yield boards/s of all batch sizes, for every network and backend."""
        for config in self._configs():
            for backend in self.options.backends:
                speeds = [self._evaluate(config, backend, size) for size in self.options.batches]
                yield [str(config), backend, *speeds]

    def learning(self) -> Iterator[list[str]]:
        """Yield rows/s of all batch sizes, for every network and way to learn."""
        residual, spiking = self._configs()
        yield [str(residual), "", *self._learn(residual)]
        yield [str(spiking), "one kernel for all steps", *self._learn(spiking)]
        with patch("rookery.nets.lif.uses_kernels", lambda currents: False):
            yield [str(spiking), "torch", *self._learn(spiking)]

    def _configs(self) -> list[NetConfig]:
        sizes = {"width": self.options.width, "depth": self.options.depth}
        return [
            NetConfig("resnet", **sizes),
            NetConfig("spiking", **sizes, steps=self.options.steps),
        ]

    def _net(self, config: NetConfig) -> torch.nn.Module:
        game = self.game
        cells = game.policy_cells
        return build_net(config, game.planes_shape, game.num_actions, policy_cells=cells)

    def _evaluate(self, config: NetConfig, backend: str, size: int) -> str:
        shape = self.game.planes_shape
        evaluator = GpuEvaluator(self._net(config), shape, device=self.device, backend=backend)
        stream = torch.Generator().manual_seed(1)
        stones = torch.rand((size, *shape), generator=stream) < STONES
        planes = stones.float().to(self.device)
        forward = Graph(lambda: consume(evaluator.forward(planes)), self.device)
        return self._speed(forward, size)

    def _learn(self, config: NetConfig) -> list[str]:
        speeds = []
        window = filled_window(self.game, self.device, max(self.options.batches))
        for size in self.options.batches:
            net = self._net(config).to(self.device)
            settings = LearningConfig(batch_size=size, precision=self.options.precision)
            learner = GpuLearner(self.game, net, config=settings, seed=0)

            def learn(learner: GpuLearner = learner) -> None:
                learner.learn(window, 10, progress=0.5)
                learner.drain()

            speeds.append(self._speed(learn, 10 * size))
        return speeds

    def _speed(self, call: Callable[[], object], rows: int) -> str:
        """Return rows per second: the median, and the slowest and fastest trial."""
        self._seconds(call, 1)
        repeat = max(1, int(self.options.seconds / self._seconds(call, 1)))
        speeds = [rows * repeat / self._seconds(call, repeat) for _ in range(TRIALS)]
        return f"{median(speeds):,.0f} ({min(speeds):,.0f} to {max(speeds):,.0f})"

    def _seconds(self, call: Callable[[], object], repeat: int) -> float:
        self._wait()
        start = time.perf_counter()
        for _ in range(repeat):
            call()
        self._wait()
        return time.perf_counter() - start

    def _wait(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)


def consume(outputs: object) -> None:
    """Ignore the outputs of a forward pass: a captured function returns nothing."""


def read_options(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--game", default="connect4")
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--depth", type=int, default=5)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--batches", type=numbers, default=[256, 1024, 4096])
    parser.add_argument("--backends", type=words, default=["float16", "fused-float16"])
    parser.add_argument("--precision", default="bfloat16", help="of learning")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--seconds", type=float, default=0.5, help="of one trial")
    return parser.parse_args(arguments)


def words(text: str) -> list[str]:
    return text.split(",")


def numbers(text: str) -> list[int]:
    return [int(word) for word in words(text)]


def main(arguments: Sequence[str] | None = None) -> None:
    comparison = Comparison(read_options(arguments))
    batches = [f"batch {size:,}" for size in comparison.options.batches]
    print_heading()
    for title, rows in (
        ("boards/s of inference", comparison.inference()),
        ("rows/s of learning", comparison.learning()),
    ):
        print()
        print_table([title, "by", *batches], list(rows))


if __name__ == "__main__":
    main()
