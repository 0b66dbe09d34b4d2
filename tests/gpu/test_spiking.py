"""Spiking networks on a GPU: captured graphs, new weights, training. `pytest -m gpu`."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import nn

from rookery.games import load_game
from rookery.nets import Ensemble, GpuEvaluator, NetConfig, build_net
from rookery.training import RunFolder, Stats, apply, recipe_for, train

pytestmark = pytest.mark.gpu
RULES = load_game("connect4")
ROWS = 256
SHORT = [
    "run.devices=cuda:0",
    "run.minutes=0",
    "run.iterations=12",
    "run.checkpoint_every=4",
    "run.strength_every=4",
    "run.strength_simulations=0",
    "selfplay.games=256",
    "selfplay.simulations=16",
    "learning.batch_size=256",
    "net.kind=spiking",
    "net.width=32",
    "net.depth=2",
]


@pytest.fixture
def device() -> torch.device:
    if not torch.cuda.is_available():
        pytest.skip("there is no GPU")
    return torch.device("cuda", 0)


def new_net(kind: str = "spiking", seed: int = 1) -> nn.Module:
    """Return a network with random heads and calibrated batch norms."""
    config = NetConfig(kind, width=64, depth=4)
    net = build_net(config, RULES.planes_shape, RULES.num_actions, seed=seed)
    stream = torch.Generator().manual_seed(seed)
    for head in ("policy.last.weight", "value.last.weight"):
        torch.nn.init.normal_(net.get_parameter(head), std=0.1, generator=stream)
    with torch.no_grad():
        for _ in range(30):
            net(torch.from_numpy(boards()))
    return net.eval()


def boards() -> NDArray[np.float32]:
    rng = np.random.default_rng(1)
    return (rng.random((ROWS, *RULES.planes_shape)) < 0.3).astype(np.float32)


def evaluate_plainly(evaluator: GpuEvaluator, planes: NDArray[np.float32]) -> list[Any]:
    """Evaluate without a captured graph."""
    found = evaluator.forward(torch.from_numpy(planes).to(evaluator.device))
    return [part.cpu().numpy() for part in found]


def share_of_equal_rows(one: NDArray[np.float32], other: NDArray[np.float32]) -> float:
    return float(np.isclose(one, other, atol=1e-3).all(axis=1).mean())


@pytest.mark.parametrize("backend", ["float32", "float16", "bfloat16"])
def test_a_captured_forward_equals_the_plain_one(backend: str, device: torch.device) -> None:
    evaluator = GpuEvaluator(new_net(), RULES.planes_shape, device=device, backend=backend)
    for net in (new_net(), new_net(seed=2)):
        evaluator.load(net)
        captured, plain = evaluator(boards()), evaluate_plainly(evaluator, boards())
        for one, other in zip(captured, plain, strict=True):
            assert share_of_equal_rows(one, other) > 0.95
    evaluator.check()


def test_new_weights_reach_the_captured_graph(device: torch.device) -> None:
    evaluator = GpuEvaluator(new_net(), RULES.planes_shape, device=device, backend="float32")
    before, _ = evaluator(boards())
    evaluator.load(new_net(seed=2))
    after, _ = evaluator(boards())
    fresh, _ = GpuEvaluator(new_net(seed=2), RULES.planes_shape, device=device, backend="float32")(
        boards()
    )
    assert share_of_equal_rows(before, after) < 0.05
    assert share_of_equal_rows(after, fresh) > 0.95


def test_gpu_and_cpu_agree(device: torch.device) -> None:
    net = new_net()
    with torch.no_grad():
        expected = net(torch.from_numpy(boards()))[1].softmax(1).numpy()
    evaluator = GpuEvaluator(net, RULES.planes_shape, device=device)
    assert not evaluator.backend.startswith("fused")
    assert np.abs(evaluator(boards())[1] - expected).mean() < 0.01


def test_an_ensemble_with_a_residual_net_agrees_with_float32(device: torch.device) -> None:
    both = Ensemble([new_net(), new_net("resnet")])
    expected = GpuEvaluator(both, RULES.planes_shape, device=device, backend="float32")(boards())
    found = GpuEvaluator(both, RULES.planes_shape, device=device)(boards())
    assert np.abs(found[1] - expected[1]).mean() < 0.01


@pytest.mark.parametrize("more", [(), ("learning.method=distributed", "learning.workers=2")])
def test_a_short_run_learns_and_resumes(
    tmp_path: Path, device: torch.device, more: tuple[str, ...]
) -> None:
    config = apply(recipe_for("connect4", on_gpu=True), [*SHORT, *more])
    folder = RunFolder.create(tmp_path / "run", config)
    train(folder, lambda moment: None)
    folder.change(apply(config, ["run.iterations=16"]))
    train(folder, lambda moment: None)
    lines = list(Stats(folder.path).lines())
    turns = [line["iteration"] for line in lines if line["kind"] == "iteration"]
    assert turns == list(range(1, 17))
    errors = [line["strength"]["errors"] for line in lines if line["kind"] == "strength"]
    assert errors[-1] < errors[0]
