"""`rookery analyse`: positions in, one JSON object per line out."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rookery.interface.cli.failures import USAGE
from rookery.interface.cli.settings import (
    Devices,
    Iteration,
    Net,
    TrustRules,
    find_net,
    print_note,
    whole,
)
from rookery.interface.printable import one_line

if TYPE_CHECKING:
    from rookery.interface.line_queue import LineQueue


def analyse(
    run: Net,
    positions: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="POSITION",
            help="Analyse these positions; without any, those read from stdin.",
        ),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Read the positions from this file, one per line."),
    ] = None,
    simulations: Annotated[
        int,
        typer.Option(
            parser=whole(0, "MAX_SIMULATIONS"),
            metavar="N",
            help="Run N simulations per position; 0 = the network alone.",
        ),
    ] = 100,
    iteration: Iteration = None,
    devices: Devices = "cpu",
    trust_rules: TrustRules = False,
) -> None:
    """Analyse positions and print one JSON object for each, in the order of the input.

    Write a position as the moves so far (Connect Four: columns 1 to 7).
    In chess, write a FEN, which `moves e2e4 ...` may follow.
    An empty line is the starting position.
    """
    from rookery.api import Analyser
    from rookery.base import IllegalPosition
    from rookery.gpu import why_cpu
    from rookery.interface.formatting import loading

    source = _source(positions, file)
    net = find_net(run, simulations=simulations, iteration=iteration, trust_rules=trust_rules)
    with loading(f"Preparing {net.name}"):
        analyser = Analyser.of_net(net, devices=devices)
    if why := why_cpu(devices):
        print_note(why)
    has_errors = False
    for batch in _batches(source, analyser.batch_size):
        for text, answer in zip(batch, analyser.analyse(batch), strict=True):
            if isinstance(answer, IllegalPosition):
                has_errors, found = True, {"error": one_line(str(answer))}
            else:
                found = answer.to_plain()
            print(json.dumps({"position": text, **found}))
        sys.stdout.flush()
    if has_errors:
        raise typer.Exit(USAGE)


def _source(positions: list[str] | None, file: Path | None) -> "list[str] | LineQueue":
    """Return all positions, or a queue of those that arrive from stdin."""
    from rookery.base import ConfigError
    from rookery.interface.line_queue import LineQueue, read_lines

    if file is None:
        if positions:
            return [text.strip() for text in positions]
        return LineQueue(read_lines(sys.stdin))
    if positions:
        raise ConfigError("positions were given both as arguments and with --file; choose one")
    if not file.is_file():
        raise ConfigError(f"there is no file {file}; expected one with a position per line")
    return [line.strip() for line in file.read_text("utf-8", errors="replace").splitlines()]


def _batches(source: "list[str] | LineQueue", size: int) -> Iterator[list[str]]:
    if not isinstance(source, list):
        yield from source.batches(size)
        return
    for start in range(0, len(source), size):
        yield source[start : start + size]
