"""`rookery uci`: an engine for chess programs."""

import sys
from typing import Annotated

import typer

from rookery.interface.cli.settings import NET, Devices


def uci(
    run: Annotated[str, typer.Argument(metavar="RUN|GAME", help=NET)],
    iteration: Annotated[
        int | None, typer.Option(help="Ask the net of this iteration, not the newest.")
    ] = None,
    devices: Devices = "cpu",
) -> None:
    """Play and analyse in a chess program, by the Universal Chess Interface."""
    from rookery.base import ConfigError
    from rookery.interface.cli.settings import find_net
    from rookery.interface.uci import Engine, Inbox
    from rookery.runtime import find_device

    net = find_net(run, iteration=iteration)
    if not hasattr(net.game.module, "write_position"):
        raise ConfigError(f"{run} plays {net.game.name}, which chess programs do not know")
    find_device(devices)
    contestant = net.contestant(inference="float32", devices=devices)
    if hasattr(sys.stdin, "reconfigure"):
        sys.stdin.reconfigure(errors="replace")
    engine = Engine(net, contestant, inbox=Inbox(sys.stdin), say=_say)
    try:
        engine.run()
    except KeyboardInterrupt:
        return


def _say(line: str) -> None:
    print(line, flush=True)
