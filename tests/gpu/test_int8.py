"""int8 inference on a GPU: `pytest -m gpu tests/gpu`; needs nvidia-cudnn-frontend."""

from typing import Any

import pytest
import torch
from torch import Tensor

from rookery.arena import sample_boards
from rookery.games import load_game
from rookery.gpu import Graph
from rookery.nets import GpuEvaluator, build_net
from rookery.nets.inference.int8 import Int8Tower
from rookery.nets.inference.quantize import channel_ranges, quantize_tower
from rookery.nets.resnet import fold
from rookery.training import load_shipped
from rounded import run_layers

pytestmark = pytest.mark.gpu
pytest.importorskip("cudnn")
CHESS = load_game("chess")


@pytest.fixture
def device() -> torch.device:
    if not torch.cuda.is_available():
        pytest.skip("there is no GPU")
    return torch.device("cuda", 0)


def boards(device: torch.device, count: int) -> Tensor:
    return torch.from_numpy(sample_boards(CHESS, count)).to(device)


@torch.inference_mode()
@pytest.mark.parametrize("count", [48, 1024])
def test_kernels_equal_the_quantized_layers(count: int, device: torch.device) -> None:
    folded: Any = fold(load_shipped(CHESS).build()).to(device)
    planes = boards(device, count)
    expected = run_layers(quantize_tower(folded, channel_ranges(folded, planes)), planes)
    found = Int8Tower(folded, planes)(planes).double()
    assert expected.max() > 1
    # A sum between two levels may be rounded to either, and later layers propagate the difference.
    assert ((found - expected).abs() > 0.02 * expected.max()).double().mean() < 1e-3


@torch.inference_mode()
def test_new_weights_and_scales_reach_a_captured_graph(device: torch.device) -> None:
    trained = load_shipped(CHESS).build().to(device)
    sizes = (CHESS.planes_shape, CHESS.num_actions)
    fresh = build_net(load_shipped(CHESS).header.config, *sizes, policy_cells=CHESS.policy_cells)
    planes = boards(device, 256)
    evaluator = GpuEvaluator(fresh, CHESS.planes_shape, device=device, backend="int8")
    answers: list[Tensor] = []

    def ask() -> None:
        answers[:] = evaluator.selfplay_evaluator.forward(planes)

    graph = Graph(ask, device)
    evaluator.load(trained)
    evaluator.selfplay_evaluator.adapt(planes)
    graph()
    exact, wdl = evaluator.forward(planes)
    cells = evaluator.cells
    assert cells is not None
    found, policy = (logits[:, cells].float().softmax(1) for logits in (answers[0], exact))
    moved = (found - policy).abs().sum(1).mean() / 2
    assert 0 < float(moved) < 0.06
    assert 0 < float((answers[1] - wdl).abs().mean()) < 0.02
