"""Learning on one GPU: rows per second, compared with the limits of the device.

The floor of an update is the sum, over its operations, of the longer of two times:
multiplications at the rate of a large bfloat16 matrix product, and bytes at the rate of a large
copy, both measured in the same run. Forward, backward by input and backward by weight of each
convolution are three products; a batch norm in training reads or writes its map 8 times
(statistics 1, scaling 2, backward sums 2, backward 3); a short cut adds 3.

    python benchmarks/gpu_learning.py [--width 128 --depth 5 --batch 4096]

With `--batches` it prints a table instead: time per update, rows/s and device memory for each batch
size and precision, as medians of three timings with the smallest and the largest.

    python benchmarks/gpu_learning.py --batches 64,128,256,512,1024,2048,4096,8192
"""

import argparse
import gc
import time
from collections.abc import Callable
from statistics import median
from typing import TYPE_CHECKING, Any

from heading import print_heading, print_table

if TYPE_CHECKING:
    import torch

    from rookery.games import Game
    from rookery.replay import Window

ROWS = 200_000
PRECISIONS = ("float32", "bfloat16")
ROWS_PER_TIMING = 400_000
"""Rows learned in one timing of the table; at least 20 updates."""


def seconds_of(call: Callable[[], object], repeat: int) -> float:
    """The shortest of three means over `repeat` calls."""
    import torch

    best = float("inf")
    call()
    for _ in range(3):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(repeat):
            call()
        torch.cuda.synchronize()
        best = min(best, (time.perf_counter() - start) / repeat)
    return best


def limits() -> tuple[float, float]:
    """Multiply-adds (times two) and bytes per second of this device."""
    import torch

    a = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
    flops = 2 * 8192**3 / seconds_of(lambda: a @ a, 20)
    x = torch.empty(2**30, dtype=torch.uint8, device="cuda")
    y = torch.empty_like(x)
    return flops, 2 * x.numel() / seconds_of(lambda: y.copy_(x), 20)


def floors(options: argparse.Namespace, flops: float, bandwidth: float) -> tuple[float, float]:
    """Seconds of an update by its multiplications alone, and by each operation's own limit."""
    cells, convs = 42, 2 * options.depth
    product = 2 * 9 * options.width**2 * cells * options.batch / flops
    pass_over_map = 2 * options.batch * cells * options.width / bandwidth
    product_or_bytes = max(product, 2 * pass_over_map)
    norms = convs * 8 * pass_over_map + options.depth * 3 * pass_over_map
    return 3 * convs * product, 3 * convs * product_or_bytes + norms


def filled_window(rules: "Game", device: "torch.device", count: int = ROWS) -> "Window":
    """Return a window of `count` rows of the first position."""
    from rookery.replay import ReplayConfig, Window, new_rows

    window = Window(rules, ReplayConfig(window_min=count, window_max=count), device)
    rows = new_rows(rules, count)
    rows.states[:] = rules.new_states(count)
    rows.results[:] = 1
    rows.num_legal[:] = rules.max_legal
    rows.legal[:] = range(rules.max_legal)
    rows.policy[:] = 1
    window.add(rows)
    return window


def new_learner(options: argparse.Namespace, **learning: Any) -> tuple[Any, Any]:
    """Return a learner of a new network, and a window of random rows."""
    from rookery.games import load_game
    from rookery.gpu import find_device
    from rookery.learning import GpuLearner, LearningConfig
    from rookery.nets import NetConfig, build_net

    device, rules = find_device("cuda:0"), load_game("connect4")
    window = filled_window(rules, device)
    config = NetConfig(width=options.width, depth=options.depth)
    net = build_net(config, rules.planes_shape, rules.num_actions).to(device)
    return GpuLearner(rules, net, config=LearningConfig(**learning), seed=0), window


def update_seconds(options: argparse.Namespace, *, compiled: bool) -> float:
    """Our update, from drawing the batch to the averaged weights."""
    learner, window = new_learner(options, batch_size=options.batch, compiled=compiled)

    def learn() -> None:
        learner.learn(window, 50, progress=0.5)
        learner.drain()

    return seconds_of(learn, 2) / 50


def table_row(options: argparse.Namespace, batch_size: int, precision: str) -> list[str]:
    """Return the figures of one batch size in one precision."""
    import torch

    gc.collect()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    learner, window = new_learner(options, batch_size=batch_size, precision=precision)
    updates = min(500, max(20, ROWS_PER_TIMING // batch_size))

    def learn() -> float:
        torch.cuda.synchronize()
        start = time.perf_counter()
        learner.learn(window, updates, progress=0.5)
        learner.drain()
        torch.cuda.synchronize()
        return (time.perf_counter() - start) / updates

    learn()
    seconds = [learn() for _ in range(3)]
    middle = median(seconds)
    return [
        f"{batch_size:,}",
        precision,
        f"{1000 * middle:.3f}",
        f"{1000 * min(seconds):.3f} to {1000 * max(seconds):.3f}",
        f"{batch_size / middle:,.0f}",
        f"{torch.cuda.max_memory_allocated() >> 20:,}",
        f"{torch.cuda.max_memory_reserved() >> 20:,}",
    ]


def print_batches(options: argparse.Namespace) -> None:
    """Print the table of batch sizes and precisions."""
    headings = ["batch", "precision", "ms/update", "spread", "rows/s", "MB used", "MB reserved"]
    sizes = [int(size) for size in options.batches.split(",")]
    rows = [table_row(options, size, precision) for precision in PRECISIONS for size in sizes]
    print(f"c{options.width}b{options.depth}, a window of {ROWS:,} rows included in the memory")
    print_table(headings, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--depth", type=int, default=5)
    parser.add_argument("--batch", type=int, default=4096)
    parser.add_argument("--batches", default="", help="print a table of these sizes")
    options = parser.parse_args()

    from rookery.gpu import find_device, use_device

    use_device(find_device("cuda:0"))
    print_heading()
    if options.batches:
        print_batches(options)
        return
    flops, bandwidth = limits()
    by_flops, by_operations = floors(options, flops, bandwidth)
    for compiled in (False, True):
        seconds = update_seconds(options, compiled=compiled)
        print(
            f"c{options.width}b{options.depth}, batch {options.batch}, "
            f"{'compiled' if compiled else 'as it is'}: {1000 * seconds:.2f} ms per update, "
            f"{options.batch / seconds / 1e6:.2f} M rows/s; "
            f"{by_operations / seconds:.2f} of the floor by operations "
            f"({1000 * by_operations:.2f} ms), {by_flops / seconds:.2f} of multiplications alone "
            f"({1000 * by_flops:.2f} ms) at {flops / 1e12:.0f} TFLOP/s, "
            f"{bandwidth / 1e12:.1f} TB/s",
            flush=True,
        )


if __name__ == "__main__":
    main()
