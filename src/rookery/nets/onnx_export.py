"""Export to ONNX, which programs in any language run without Rookery and without torch.

    planes [N, P, H, W] float32  ->  policy [N, A] logits, wdl [N, 3] win, draw, loss probabilities

These are the outputs of a `CpuEvaluator`, for any batch size N; batch norm is folded. The metadata
of the model name the game and the weights.
"""

import importlib
import json
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from rookery.base import ConfigError
from rookery.nets.resnet import Outputs, fold
from rookery.nets.weights import Weights

if TYPE_CHECKING:
    from onnx import ModelProto

EXTRA = ("onnx", "onnxscript")
"""Packages that torch's exporter needs."""
OPSET = 18
"""The oldest operator set that torch's exporter writes, so that most programs can read it."""
EXAMPLE_ROWS = 2
"""Boards in the exporter's example; with one board it may make the 1 a constant."""


def pack_onnx(weights: Weights) -> bytes:
    """Return the network as the content of an ONNX file; raise ConfigError without the extra."""
    _require_extra()
    model = _translate(weights)
    _drop_source_notes(model)
    for key, value in _metadata(weights).items():
        model.metadata_props.add(key=key, value=value)
    payload: bytes = model.SerializeToString()
    return payload


class _ExportedNet(nn.Module):
    """A folded network with the outputs of a `CpuEvaluator`."""

    def __init__(self, folded: nn.Module) -> None:
        super().__init__()
        self.folded = folded

    def forward(self, planes: Tensor) -> Outputs:
        logits, wdl = self.folded(planes)
        return logits, wdl.softmax(1)


def _require_extra() -> None:
    try:
        for name in EXTRA:
            importlib.import_module(name)
    except ImportError as error:
        raise ConfigError(
            f"an .onnx file needs {' and '.join(EXTRA)} (pip install 'rookery[export]')"
        ) from error


def _translate(weights: Weights) -> "ModelProto":
    example = torch.zeros(EXAMPLE_ROWS, *weights.header.game.planes_shape)
    with _quiet():
        program = torch.onnx.export(
            _ExportedNet(fold(weights.build())),
            (example,),
            input_names=["planes"],
            output_names=["policy", "wdl"],
            dynamic_shapes={"planes": {0: torch.export.Dim("N")}},
            opset_version=OPSET,
            dynamo=True,
            verbose=False,
        )
    assert program is not None
    model = program.model_proto
    batch = model.graph.input[0].type.tensor_type.shape.dim[0]
    assert batch.dim_param, "the exporter made the batch size a constant"
    return model


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence the exporter: hints about optional packages, and torch's own deprecations."""
    log = logging.getLogger("torch.onnx")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        log.setLevel(level)


def _drop_source_notes(model: "ModelProto") -> None:
    """Remove the exporter's notes: lines of source code and the paths of their files."""
    graph = model.graph
    for part in (graph, *graph.node, *graph.input, *graph.output, *graph.value_info):
        part.ClearField("metadata_props")


def _metadata(weights: Weights) -> dict[str, str]:
    game = weights.header.game
    return {
        "game": game.name,
        "game_version": str(game.version),
        "planes_shape": json.dumps(game.planes_shape),
        "num_actions": str(game.num_actions),
        "net": str(weights.header.config),
        "step": str(weights.header.step),
        "fingerprint": weights.fingerprint,
    }
