"""Where a wave of self-play on a GPU spends its time, by torch's profiler."""

import re
import time
from collections import Counter
from typing import Any

PARTS = {
    "find_done": "find done",
    "step": "moves and descent",
    "write_planes": "planes",
    "transpose_tile": "planes",
    "ascend": "ascend",
    "renew": "new games",
}
"""Our kernels, and what they are called here. All others belong to the net."""
KERNEL = re.compile(rf"(?:\d|::)({'|'.join(PARTS)})(?:B|\[abi)")
"""A kernel of numba-cuda by its mangled or readable name."""


def part_of(kernel: str) -> str:
    """What a kernel, by its name, is there for."""
    found = KERNEL.search(kernel)
    return PARTS[found[1]] if found else "net"


def wave_times(selfplay: Any, moves: int) -> tuple[float, dict[str, float], dict[str, float]]:
    """Microseconds per wave: by the clock, by part, and by kernel."""
    import torch
    from torch.profiler import ProfilerActivity, profile

    from rookery.selfplay.gpu import WAVES

    def play() -> float:
        torch.cuda.synchronize()
        start = time.perf_counter()
        simulations = selfplay.play_waves(moves, progress=1.0)
        torch.cuda.synchronize()
        waves.append(-(-moves * simulations // WAVES) * WAVES)
        return (time.perf_counter() - start) * 1e6 / waves[-1]

    waves: list[int] = []
    wall = min(play() for _ in range(3))
    with profile(activities=[ProfilerActivity.CUDA]) as seen:
        play()
    kernels: Counter[str] = Counter()
    for event in seen.key_averages():
        kernels[event.key] += event.self_device_time_total / waves[-1]
    parts = {"net": 0.0} | dict.fromkeys(PARTS.values(), 0.0)
    for name, us in kernels.items():
        parts[part_of(name)] += us
    return wall, parts, dict(kernels)
