"""`rookery export`: a network as a file for other programs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rookery.interface.cli.settings import Iteration, TrustRules, check_new_files, find_net

if TYPE_CHECKING:
    from rookery.nets import Weights

ONNX, WEIGHTS = ".onnx", ".safetensors"


def export(
    run: Annotated[
        str,
        typer.Argument(
            metavar="RUN|GAME",
            help="Export this run folder, RUN@ITERATION, or the network bundled with a game.",
        ),
    ],
    out: Annotated[
        Path, typer.Argument(metavar="OUT", help="Write this file: NAME.onnx or NAME.safetensors.")
    ],
    iteration: Iteration = None,
    half: Annotated[
        bool,
        typer.Option("--half", help="Store weights in float16, half the size; for .safetensors."),
    ] = False,
    trust_rules: TrustRules = False,
) -> None:
    """Write a network to a file: ONNX for other programs, or Rookery's own weights."""
    from rookery.base import ConfigError, write_atomic
    from rookery.nets import pack, pack_onnx

    if out.suffix not in (ONNX, WEIGHTS):
        raise ConfigError(f"{out} must end in {ONNX} or {WEIGHTS}, which selects the format")
    if half and out.suffix != WEIGHTS:
        raise ConfigError(f"--half is for {WEIGHTS}; {ONNX} files are in float32")
    check_new_files(out)
    net = find_net(run, iteration=iteration, trust_rules=trust_rules)
    if net.partners:
        raise ConfigError(f"a file holds one network, got {run}; export each separately")
    weights = net.load()
    if out.suffix == ONNX:
        payload = pack_onnx(weights)
    else:
        payload = pack(weights.halved() if half else weights.state, weights.header)
    write_atomic(out, payload)
    _show(weights, out, len(payload))


def _show(weights: "Weights", out: Path, size: int) -> None:
    from rookery.interface.formatting import count, screen

    header = weights.header
    lines = [
        f"{header.game.name}, {header.config}, after {count(header.step)} updates: "
        f"{count(size)} bytes in {out}"
    ]
    if out.suffix == ONNX:
        planes = ", ".join(map(str, header.game.planes_shape))
        lines += [
            f"  input   planes [N, {planes}] float32",
            f"  output  policy [N, {header.game.num_actions}] logits",
            "  output  wdl [N, 3] win, draw, loss for the player to move, probabilities",
        ]
    screen().print("\n".join(lines), markup=False, soft_wrap=True)
