"""`rookery uci`: an engine for chess programs."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rookery.interface.cli.settings import NET, Devices, TrustRules

if TYPE_CHECKING:
    from rookery.interface.uci.inbox import Inbox

LEAVES = 16
"""Positions that a processor is asked about at once, at most: more gain nothing, and take long."""


def uci(
    run: Annotated[str, typer.Argument(metavar="RUN|GAME", help=NET)],
    iteration: Annotated[
        int | None, typer.Option(help="Ask the net of this iteration, not the newest.")
    ] = None,
    devices: Devices = "cpu",
    trust_rules: TrustRules = False,
) -> None:
    """Play and analyse in a chess program, by the Universal Chess Interface."""
    from rookery.interface.uci.inbox import Inbox
    from rookery.interface.uci.options import introduction

    if hasattr(sys.stdin, "reconfigure"):
        sys.stdin.reconfigure(errors="replace")
    inbox = Inbox(sys.stdin, lambda: _say("\n".join(introduction(Path(run).name))))
    try:
        _serve(run, inbox, iteration=iteration, devices=devices, trust_rules=trust_rules)
    except KeyboardInterrupt:
        return


def _serve(
    run: str, inbox: "Inbox", *, iteration: int | None, devices: str, trust_rules: bool
) -> None:
    from rookery.base import ConfigError
    from rookery.games import plain_name
    from rookery.gpu import find_device
    from rookery.interface.cli.settings import find_net
    from rookery.interface.uci.engine import Engine

    net = find_net(run, iteration=iteration, trust_rules=trust_rules)
    if plain_name(net.game.name) != "chess":
        raise ConfigError(f"{run} plays {net.game.name}, which chess programs do not know")
    find_device(devices)
    player = net.player(inference="auto", devices=devices)
    player = replace(player, batch_size=LEAVES)
    Engine(net, player, inbox=inbox, say=_say).run()


def _say(text: str) -> None:
    print(text, flush=True)
