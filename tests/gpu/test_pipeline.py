"""A network in two stages on one GPU: the updates of the whole, in less memory per stage.

Run with `pytest -m gpu -s tests/gpu/test_pipeline.py`, which prints the memory.
"""

import json
import multiprocessing
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from gpu_pipeline_ranks import learn, net_config
from rookery.base import read_arrays
from rookery.games import load_game
from rookery.nets import build_net

pytestmark = pytest.mark.gpu
DEADLINE_SECONDS = 240
MAX_GAP = 0.02
"""Distance of the two results, as a share of the way from the start."""


@pytest.mark.parametrize("kind", ["resnet", "spiking"])
def test_two_stages_learn_what_the_whole_learns_in_less_memory(kind: str, tmp_path: Path) -> None:
    if not torch.cuda.is_available():
        pytest.skip("there is no GPU")
    (whole,) = learned(1, kind, tmp_path / "whole")
    stages = learned(2, kind, tmp_path / "stages")
    for name, told in [("whole", whole), *((f"stage {n}", each) for n, each in enumerate(stages))]:
        print(f"{kind}, {name}: {told['used_mb']:.0f} MB, {told['reserved_mb']:.0f} MB reserved")
    for told in stages:
        np.testing.assert_allclose(told["losses"], whole["losses"], rtol=1e-4)
        assert told["used_mb"] < 0.8 * whole["used_mb"]
    expected, found = (read_arrays(tmp_path / name / "state")[0] for name in ("whole", "stages"))
    assert sorted(found) == sorted(expected) and found["updates"] == expected["updates"]
    assert gap(kind, expected, found) < MAX_GAP


def learned(size: int, kind: str, folder: Path) -> list[dict[str, Any]]:
    """Return what each of `size` ranks has told."""
    folder.mkdir()
    context = multiprocessing.get_context("spawn")
    ranks = [
        context.Process(target=learn, args=(rank, size, kind, folder), daemon=True)
        for rank in range(size)
    ]
    for rank in ranks:
        rank.start()
    deadline = time.monotonic() + DEADLINE_SECONDS
    try:
        for rank in ranks:
            rank.join(max(0.0, deadline - time.monotonic()))
        assert [rank.exitcode for rank in ranks] == [0] * size
    finally:
        for rank in ranks:
            rank.kill()
    return [json.loads((folder / f"{rank}.json").read_text()) for rank in range(size)]


def gap(kind: str, expected: dict[str, Any], found: dict[str, Any]) -> float:
    """Return the distance of the weights, as a share of the way that they have come."""
    game = load_game("connect4")
    start = build_net(net_config(kind), game.planes_shape, game.num_actions, seed=3).state_dict()
    apart = way = 0.0
    for name, first in start.items():
        if first.any():  # the others start from other values
            end = expected[f"net.{name}"].astype(float)
            apart += float(((found[f"net.{name}"] - end) ** 2).sum())
            way += float(((first.numpy() - end) ** 2).sum())
    return float((apart / way) ** 0.5)
