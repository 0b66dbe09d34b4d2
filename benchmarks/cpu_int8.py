"""Evaluations per second of one core in float32 and in 8 bits, by network and batch.

    python benchmarks/cpu_int8.py [--sizes 32x3,64x4,128x6,128x10] [--rows 8,64,256]

The backends take turns, and the fastest of several calls counts. Then how far the bundled networks
move: probability of moves that another move has in 8 bits, mean change of the value, and positions
whose most likely move is another one, over positions of random games.
"""

import argparse
from functools import partial

import numpy as np
import torch
from heading import print_heading, print_table
from numpy.typing import NDArray

import rookery as rk
from rookery.nets import MEASURED_ROWS, CpuEvaluator, NetConfig, best_seconds, build_net

GAME = "connect4"
BUNDLED = ("connect4", "chess")
ROUNDS = 3
TESTED = 512
Floats = NDArray[np.float32]


def measure_speed(width: int, depth: int, counts: list[int]) -> list[list[str]]:
    """Return rows of a table for one size of network."""
    game = rk.load_game(GAME)
    net = build_net(NetConfig(width=width, depth=depth), game.planes_shape, game.num_actions)
    boards = game.planes(game.random_states(max(MEASURED_ROWS, *counts), seed=1))
    plain = CpuEvaluator(net, game.planes_shape, backend="float32")
    short = CpuEvaluator(net, game.planes_shape, backend="int8")
    short(boards)  # its scales fit these boards
    table = []
    for count in counts:
        rows = boards[:count].copy()
        rates: dict[str, float] = {"float32": 0.0, "int8": 0.0}
        for _ in range(ROUNDS):
            for name, evaluator in (("float32", plain), ("int8", short)):
                seconds = best_seconds(partial(evaluator, rows))
                rates[name] = max(rates[name], count / seconds)
        ratio = rates["int8"] / rates["float32"]
        figures = [f"{rates['float32']:,.0f}", f"{rates['int8']:,.0f}", f"{ratio:.2f}"]
        table.append([f"{width} x {depth}", str(count), *figures])
    return table


def measure_change(name: str) -> list[str]:
    """Return how far a bundled network moves in 8 bits."""
    game, net = rk.load_game(name), rk.load_net(name).ref.load().build()
    plain = CpuEvaluator(net, game.planes_shape, backend="float32")
    short = CpuEvaluator(net, game.planes_shape, backend="int8")
    short(game.planes(game.random_states(MEASURED_ROWS, seed=1)))
    boards = game.planes(game.random_states(TESTED, seed=2))
    (logits, wdl), (exact_logits, exact_wdl) = short(boards), plain(boards)
    moved = np.abs(softmax(logits) - softmax(exact_logits)).sum(1).mean() / 2
    values = np.abs((wdl - exact_wdl) @ np.array([1, 0, -1], np.float32)).mean()
    others = (logits.argmax(1) != exact_logits.argmax(1)).mean()
    return [name, f"{100 * moved:.2f} %", f"{values:.4f}", f"{100 * others:.1f} %"]


def softmax(logits: Floats) -> Floats:
    return torch.from_numpy(logits).softmax(1).numpy()


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="32x3,64x4,128x6,128x10")
    parser.add_argument("--rows", default="8,64,256")
    options = parser.parse_args()
    torch.set_num_threads(1)
    print_heading()
    counts = [int(each) for each in options.rows.split(",")]
    table = []
    for size in options.sizes.split(","):
        width, depth = map(int, size.split("x"))
        table += measure_speed(width, depth, counts)
    print_table(["network", "rows", "float32 per second", "int8", "ratio"], table)
    headings = ["bundled network", "policy moved", "value moved", "another first move"]
    print_table(headings, [measure_change(name) for name in BUNDLED])


if __name__ == "__main__":
    main()
