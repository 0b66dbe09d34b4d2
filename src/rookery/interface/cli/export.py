"""`rookery export`: a network as a file for other programs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rookery.interface.cli.completion import complete_net
from rookery.interface.cli.settings import Iteration, TrustRules, find_net

if TYPE_CHECKING:
    from rookery.nets import Weights


def export(
    run: Annotated[
        str,
        typer.Argument(
            metavar="RUN|GAME",
            autocompletion=complete_net,
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
    from rookery.api import Net

    net = find_net(run, iteration=iteration, trust_rules=trust_rules)
    Net(net).save(out, half=half)
    _show(net.load(), out)


def _show(weights: "Weights", out: Path) -> None:
    from rookery.interface.formatting import count, screen

    header = weights.header
    lines = [
        f"{header.game.name}, {header.config}, after {count(header.step)} updates: "
        f"{count(out.stat().st_size)} bytes in {out}"
    ]
    if out.suffix == ".onnx":
        planes = ", ".join(map(str, header.game.planes_shape))
        lines += [
            f"  input   planes [N, {planes}] float32",
            f"  output  policy [N, {header.game.num_actions}] logits",
            "  output  wdl [N, 3] win, draw, loss for the player to move, probabilities",
        ]
    screen().print("\n".join(lines), markup=False, soft_wrap=True)
