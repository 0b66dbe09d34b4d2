"""One position of chess: nodes per second by leaves per wave, compared with the bare network.

    python benchmarks/single_position.py [--devices cuda:0] [--nets 32x4,128x6] [--leaves 1,4,16]

Nets have random weights, which is enough for speed. `waves` says how many leaves they had in the
mean: a wave ends early where a descent meets a leaf that already waits.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from rookery.games import Board, Game, load_game
from rookery.gpu import find_device, use_device
from rookery.nets import CpuEvaluator, GpuEvaluator, NetConfig, build_net
from rookery.search import AnalysisSearch, SearchConfig
from rookery.search.analysis.search import choose_leaves

POSITION = "r1bq1rk1/pp2bppp/2n1pn2/3p4/2PP4/2N2N2/PP2BPPP/R1BQ1RK1 w - - 0 9"
MOST_NODES = 500_000
PRIOR_SPREAD = 1.5
"""Standard deviation of policy logits."""


def random_evaluator(rules: Game, shape: str, devices: str) -> Any:
    """A net of WIDTHxDEPTH, ready to be asked."""
    width, depth = map(int, shape.split("x"))
    config = NetConfig(width=width, depth=depth, value_width=64)
    cells = rules.policy_cells
    net = build_net(config, rules.planes_shape, rules.num_actions, policy_cells=cells, seed=1)
    give_opinions(net, rules)
    device = find_device(devices)
    if device.type == "cuda":
        use_device(device)
        return GpuEvaluator(net, rules.planes_shape, device=device)
    return CpuEvaluator(net, rules.planes_shape, backend="float32")


def give_opinions(net: torch.nn.Module, rules: Game) -> None:
    """Policies begin at zero: let priors differ as those of a trained net do."""
    named = net.named_parameters()
    blank = [part.data for name, part in named if name.startswith("policy") and not part.any()]
    for parameter in blank:
        torch.nn.init.normal_(parameter, std=0.01)
    planes = torch.from_numpy(np.zeros((8, *rules.planes_shape), np.float32))
    for state, out in zip(rules.new_states(8), planes.numpy(), strict=True):
        rules.rules.planes(state, out)
    spread = net.eval()(planes)[0].std()
    for parameter in blank:
        parameter *= PRIOR_SPREAD / spread


def rate(call: Callable[[], int], seconds: float) -> float:
    """What `call` returns, summed, a second."""
    call()
    start, total = time.perf_counter(), 0
    while time.perf_counter() - start < seconds:
        total += call()
    return total / (time.perf_counter() - start)


def measure(rules: Game, evaluator: Any, leaves: int, seconds: float) -> str:
    """One wave size: the search, and the bare network at the same batch size."""
    planes = np.random.default_rng(1).random((leaves, *rules.planes_shape), np.float32)
    config = SearchConfig()
    search = AnalysisSearch(rules, evaluator, config=config, max_nodes=MOST_NODES, leaves=leaves)
    board = Board(rules, rules.position(POSITION))
    search.set_position(board.state, board.repetitions)
    waves = 0

    def count_wave() -> bool:
        nonlocal waves
        waves += 1
        return False

    bare = rate(lambda: len(evaluator(planes)[0]), seconds)
    nodes = rate(lambda: search.grow(4 * leaves, count_wave), seconds)
    mean = search.progress.evaluations / waves
    return f"{leaves:4} leaves: {nodes:8.0f} nodes/s, bare net {bare:8.0f}/s, waves {mean:5.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--devices", default="cpu")
    parser.add_argument("--nets", default="32x4,128x6")
    parser.add_argument("--leaves", default="1,2,4,8,16,32,64")
    parser.add_argument("--seconds", type=float, default=3.0)
    options = parser.parse_args()
    rules = load_game("chess")
    for shape in options.nets.split(","):
        evaluator = random_evaluator(rules, shape, options.devices)
        print(f"net {shape} on {options.devices}: auto is {choose_leaves(rules, evaluator)} leaves")
        for leaves in map(int, options.leaves.split(",")):
            print(measure(rules, evaluator, leaves, options.seconds), flush=True)


if __name__ == "__main__":
    main()
