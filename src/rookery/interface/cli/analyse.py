"""`rookery analyse`: positions in, one JSON line each out."""

import json
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rookery.interface.cli.failures import USAGE, one_line
from rookery.interface.cli.settings import NET, Devices, TrustRules

if TYPE_CHECKING:
    from rookery.interface.analysis import Analyser


def analyse(
    run: Annotated[str, typer.Argument(metavar="RUN|GAME", help=NET)],
    positions: Annotated[
        list[str] | None, typer.Argument(help="Positions; without any, a line of input each.")
    ] = None,
    simulations: Annotated[int, typer.Option(min=1, help="Simulations a position.")] = 100,
    iteration: Annotated[
        int | None, typer.Option(help="Ask the net of this iteration, not the newest.")
    ] = None,
    devices: Devices = "cpu",
    trust_rules: TrustRules = False,
) -> None:
    """Answer positions, given or read one a line, with a line of JSON each.

    A position is the moves so far (Connect Four: columns 1 to 7), or in chess a FEN, which
    `moves e2e4 ...` may follow; an empty line is the start.
    """
    from rookery.interface.analysis import Analyser
    from rookery.interface.cli.settings import find_net

    net = find_net(run, simulations=simulations, iteration=iteration, trust_rules=trust_rules)
    analyst = Analyser(net, devices=devices)
    if hasattr(sys.stdin, "reconfigure"):
        sys.stdin.reconfigure(errors="replace")
    bad_lines = 0
    for line in positions or sys.stdin:
        answer = _answer(analyst, line.strip())
        bad_lines += "error" in answer
        print(json.dumps(answer), flush=True)
    if bad_lines:
        raise typer.Exit(USAGE)


def _answer(analyst: "Analyser", text: str) -> dict[str, Any]:
    from rookery.base import IllegalPosition

    try:
        return {"position": text, **analyst.analyse(text).to_plain()}
    except IllegalPosition as error:
        return {"position": text, "error": one_line(str(error))}
