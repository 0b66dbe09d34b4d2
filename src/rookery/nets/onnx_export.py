"""A net as an ONNX file, which programs in any language run without Rookery and without torch.

    planes [N, P, H, W] float32  ->  policy [N, A] logits, wdl [N, 3] win, draw, loss probabilities

These are the answers of an `Evaluator`, for any N; batch norm is folded. The file also tells, as
the model's metadata, which game and which weights it was made of.
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
from rookery.nets.resnet import fold
from rookery.nets.weights import Weights

if TYPE_CHECKING:
    from onnx import ModelProto

EXTRA = ("onnx", "onnxscript")
"""What torch's exporter wants to be installed."""
OPSET = 18
"""The oldest set of operators that torch's exporter writes: the more programs read it."""
EXAMPLE_ROWS = 2
"""Boards that the exporter is shown; of a single one it may take the 1 for a constant."""


def pack_onnx(weights: Weights) -> bytes:
    """The net of `weights` as the content of an ONNX file; ConfigError without the extra."""
    _require_extra()
    model = _translate(weights)
    _forget_origin(model)
    for key, value in _metadata(weights).items():
        model.metadata_props.add(key=key, value=value)
    payload: bytes = model.SerializeToString()
    return payload


class _Served(nn.Module):
    """A folded net that answers as an `Evaluator` does."""

    def __init__(self, folded: nn.Module) -> None:
        super().__init__()
        self.folded = folded

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
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
            _Served(fold(weights.build())),
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
    assert batch.dim_param, "the exporter took the number of boards for a constant"
    return model


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence about packages the exporter could use, and about what torch will retire in itself."""
    log = logging.getLogger("torch.onnx")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        log.setLevel(level)


def _forget_origin(model: "ModelProto") -> None:
    """Drop the exporter's notes: lines of source code, and the folders where they lie."""
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
