"""Networks on an Apple GPU; the CPU, or torch's device without memory, takes its place."""

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from rookery.base import RookeryError
from rookery.nets import MPS_BACKENDS, CpuEvaluator, Ensemble, NetConfig, build_net
from rookery.nets.inference import backend as shared
from rookery.nets.inference.mps import MpsBackend
from rookery.nets.resnet import Outputs, fold, without_zero_layers

MPS = torch.device("mps")
SHAPE, ACTIONS = (2, 6, 7), 7
PLANES = (np.random.default_rng(7).random((5, *SHAPE)) < 0.3).astype(np.float32)


def new_net(seed: int = 0, **settings: object) -> nn.Module:
    config = NetConfig(**{"width": 8, "depth": 1, **settings})  # type: ignore[arg-type]
    return without_zero_layers(build_net(config, SHAPE, ACTIONS, seed=seed))


@pytest.fixture
def cpu_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MpsBackend, "device", torch.device("cpu"))


@pytest.mark.parametrize("backend", ["auto", *MPS_BACKENDS])
def test_the_network_is_that_of_the_cpu(cpu_instead: None, backend: str) -> None:
    net = new_net()
    evaluator = CpuEvaluator(net, SHAPE, backend=backend, batch_size=4, device=MPS)
    expected = CpuEvaluator(net, SHAPE, backend="float32")(PLANES)
    for found, right in zip(evaluator(PLANES), expected, strict=True):
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, right, atol=0.02)
    assert evaluator.backend in MPS_BACKENDS and not evaluator.is_padded


def test_new_weights_are_taken_in_place(cpu_instead: None) -> None:
    evaluator = CpuEvaluator(new_net(), SHAPE, backend="mps-float32", device=MPS)
    evaluator.load(new_net(seed=5))
    expected = CpuEvaluator(new_net(seed=5), SHAPE, backend="float32")(PLANES)
    np.testing.assert_allclose(evaluator(PLANES)[0], expected[0], atol=1e-4)


def test_a_device_that_is_wrong_is_refused(
    cpu_instead: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = MpsBackend.__call__

    def wrong(self: MpsBackend, planes: Tensor) -> Outputs:
        logits, wdl = right(self, planes)
        return logits.flip(0), wdl

    monkeypatch.setattr(MpsBackend, "__call__", wrong)
    monkeypatch.setattr(shared, "MOST_TOLERANCE", 1e-4)
    with pytest.raises(RookeryError, match=r"mps-float32 differs from float32 by .*--devices cpu"):
        CpuEvaluator(new_net(), SHAPE, batch_size=16, device=MPS)


def test_a_device_that_fails_is_refused() -> None:
    if torch.backends.mps.is_available():
        pytest.skip("there is an Apple GPU")
    with pytest.raises(RookeryError, match="mps cannot evaluate this network: mps-float16 failed"):
        CpuEvaluator(new_net(), SHAPE, batch_size=4, device=MPS)


class _NoDoubles(TorchDispatchMode):
    """Fails like an Apple GPU, which has no float64."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        found = func(*args, **kwargs or {})
        for each in found if isinstance(found, tuple | list) else [found]:
            assert not isinstance(each, Tensor) or each.dtype != torch.float64, func
        return found


@pytest.mark.parametrize("kind", ["resnet", "spiking", "ensemble"])
@pytest.mark.parametrize("dtype", MPS_BACKENDS.values())
def test_everything_is_on_the_device(
    monkeypatch: pytest.MonkeyPatch, kind: str, dtype: torch.dtype
) -> None:
    monkeypatch.setattr(MpsBackend, "device", torch.device("meta"))
    nets = [new_net(seed, kind="spiking" if kind == "spiking" else "resnet") for seed in (1, 2)]
    backend = MpsBackend(fold(Ensemble(nets) if kind == "ensemble" else nets[0]), dtype)
    tensors = [*backend._net.parameters(), *backend._net.buffers()]
    assert {tensor.device.type for tensor in tensors} == {"meta"}
    with torch.inference_mode(), _NoDoubles():
        outputs = backend._net(torch.zeros(3, *SHAPE, dtype=dtype, device="meta"))
    assert [(each.device.type, *each.shape) for each in outputs] == [
        ("meta", 3, ACTIONS),
        ("meta", 3, 3),
    ]
