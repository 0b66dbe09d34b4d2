"""Spiking networks on a GPU: captured graphs, new weights, training. `pytest -m gpu`."""

from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from rookery.games import load_game
from rookery.gpu import Graph
from rookery.learning.precision import autocast
from rookery.nets import Ensemble, GpuEvaluator, NetConfig, build_net
from rookery.nets.lif import SURROGATES, Firing, LeakyFire, uses_kernels
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


def new_net(kind: str = "spiking", seed: int = 1, *, width: int = 64, depth: int = 4) -> nn.Module:
    """Return a network with random heads and calibrated batch norms."""
    config = NetConfig(kind, width=width, depth=depth)
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


@pytest.mark.parametrize("backend", ["float32", "float16", "bfloat16", "fused-float16"])
def test_a_captured_forward_equals_the_plain_one(backend: str, device: torch.device) -> None:
    evaluator = GpuEvaluator(new_net(), RULES.planes_shape, device=device, backend=backend)
    for net in (new_net(), new_net(seed=2)):
        evaluator.load(net)
        captured, plain = evaluator(boards()), evaluate_plainly(evaluator, boards())
        for one, other in zip(captured, plain, strict=True):
            assert share_of_equal_rows(one, other) > 0.95
    evaluator.check()


@pytest.mark.parametrize("backend", ["float32", "fused-float16"])
def test_new_weights_reach_the_captured_graph(backend: str, device: torch.device) -> None:
    evaluator = GpuEvaluator(new_net(), RULES.planes_shape, device=device, backend=backend)
    before, _ = evaluator(boards())
    evaluator.load(new_net(seed=2))
    after, _ = evaluator(boards())
    fresh, _ = GpuEvaluator(new_net(seed=2), RULES.planes_shape, device=device, backend=backend)(
        boards()
    )
    assert share_of_equal_rows(before, after) < 0.05
    assert share_of_equal_rows(after, fresh) > 0.95


def test_gpu_and_cpu_agree(device: torch.device) -> None:
    net = new_net()
    with torch.no_grad():
        expected = net(torch.from_numpy(boards()))[1].softmax(1).numpy()
    evaluator = GpuEvaluator(net, RULES.planes_shape, device=device)
    assert evaluator.backend == "fused-float16" and not evaluator.choice.dropped
    assert np.abs(evaluator(boards())[1] - expected).mean() < 0.01


@pytest.mark.parametrize("backend", ["float16", "fused-float16"])
@pytest.mark.parametrize("sizes", [(64, 4), (37, 1), (32, 0)], ids=str)
def test_half_precision_agrees_with_float32(
    backend: str, sizes: tuple[int, int], device: torch.device
) -> None:
    net = new_net(width=sizes[0], depth=sizes[1])
    shape = RULES.planes_shape
    expected = GpuEvaluator(net, shape, device=device, backend="float32")(boards())
    found = GpuEvaluator(net, shape, device=device, backend=backend)(boards())
    assert np.abs(found[1] - expected[1]).mean() < 0.01


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.bfloat16, 2**-8)])
@pytest.mark.parametrize("surrogate", SURROGATES)
def test_captured_kernels_give_the_gradients_of_torch(
    dtype: torch.dtype, tolerance: float, surrogate: str, device: torch.device
) -> None:
    layer = LeakyFire(Firing(steps=4, decay=0.5, threshold=1.0, surrogate=surrogate))
    stream = torch.Generator().manual_seed(1)
    currents, weights = (
        torch.randn((4 * 64, 37, 6, 7), generator=stream).to(device, dtype) for _ in range(2)
    )
    currents = currents.contiguous(memory_format=torch.channels_last).requires_grad_()
    found = torch.zeros_like(currents), torch.zeros_like(currents)

    def update() -> None:
        spikes = layer(currents)
        (gradient,) = torch.autograd.grad(spikes, currents, weights)
        for kept, new in zip(found, (spikes.detach(), gradient), strict=True):
            kept.copy_(new)

    assert uses_kernels(currents)
    graph = Graph(update, device)
    with torch.no_grad():
        currents.mul_(1.5)
    graph()
    membranes, spikes = map(torch.cat, layer.run(currents.detach().float()))
    assert (found[0] == spikes).float().mean() > 0.999 and 0.05 < spikes.mean() < 0.95
    gradients = gradients_by_torch(weights.float(), membranes.to(dtype).float(), layer)
    is_close = (found[1].float() - gradients).abs() <= tolerance * (0.01 + gradients.abs())
    assert is_close.float().mean() > 0.99


def gradients_by_torch(weights: Tensor, membranes: Tensor, layer: LeakyFire) -> Tensor:
    """Return the gradients of the currents, given those of the spikes."""
    direct = (weights * layer.surrogate(membranes - layer.threshold)).chunk(layer.steps)
    found = [direct[-1]]
    for step in direct[-2::-1]:
        found.append(step + layer.decay * found[-1])
    return torch.cat(found[::-1])


def test_a_captured_update_gives_the_gradients_of_torch(device: torch.device) -> None:
    found = captured_gradients("float32", device)
    expected = gradients_without_kernels("float32", device)
    for name, gradient in expected.items():
        assert similarity(found[name], gradient) > 0.99, name


def test_in_bfloat16_the_kernels_are_as_close_to_float32_as_torch_is(device: torch.device) -> None:
    exact = gradients_without_kernels("float32", device)
    found = captured_gradients("bfloat16", device)
    by_torch = gradients_without_kernels("bfloat16", device)
    for name, gradient in exact.items():
        assert similarity(found[name], gradient) > similarity(by_torch[name], gradient) - 0.1, name


def gradients_without_kernels(precision: str, device: torch.device) -> dict[str, Tensor]:
    with patch("rookery.nets.lif.uses_kernels", lambda currents: False):
        return captured_gradients(precision, device)


def similarity(one: Tensor, other: Tensor) -> float:
    return torch.cosine_similarity(one.flatten(), other.flatten(), dim=0).item()


def captured_gradients(precision: str, device: torch.device) -> dict[str, Tensor]:
    """Return the gradients of all weights, by a captured forward and backward pass."""
    net = new_net(width=32, depth=2).to(device).train()
    planes = torch.from_numpy(boards()).to(device).contiguous(memory_format=torch.channels_last)

    def update() -> None:
        net.zero_grad(set_to_none=True)
        with autocast(device, precision):
            logits, wdl = net(planes)
        (logits[:, 0].square().mean() + wdl[:, 0].square().mean()).backward()

    Graph(update, device)()
    return {
        name: weight.grad.clone()
        for name, weight in net.named_parameters()
        if weight.dim() > 1 and weight.grad is not None
    }


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
