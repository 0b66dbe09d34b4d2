"""`rookery uci`: an engine for chess programs."""

import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rookery.interface.cli.settings import Devices, Iteration, Net, TrustRules, find_net
from rookery.interface.printable import printable

if TYPE_CHECKING:
    from rookery.interface.uci.command_queue import CommandQueue

MAX_LEAVES = 16
"""Largest batch of leaves on the CPU: larger ones gain nothing and delay the answer to `stop`."""


def uci(
    run: Net, iteration: Iteration = None, devices: Devices = "cpu", trust_rules: TrustRules = False
) -> None:
    """Run as an engine for chess programs, by the Universal Chess Interface (UCI)."""
    from rookery.interface.line_queue import read_lines
    from rookery.interface.uci.command_queue import CommandQueue
    from rookery.interface.uci.options import introduction

    def introduce() -> None:
        _say("\n".join(introduction(Path(run).name)))

    commands = CommandQueue(read_lines(sys.stdin), introduce)
    with suppress(KeyboardInterrupt):
        _serve(run, commands, iteration=iteration, devices=devices, trust_rules=trust_rules)


def _serve(
    run: str, commands: "CommandQueue", *, iteration: int | None, devices: str, trust_rules: bool
) -> None:
    from rookery.base import ConfigError
    from rookery.games import plain_name
    from rookery.gpu import find_device, why_cpu
    from rookery.interface.uci.engine import Engine

    net = find_net(run, iteration=iteration, trust_rules=trust_rules)
    if plain_name(net.game.name) != "chess":
        raise ConfigError(f"{run} plays {net.game.name}, which is not chess; give a run of chess")
    inference = "fastest" if find_device(devices).type == "cpu" else "auto"
    if why := why_cpu(devices):
        _say(f"info string {why}")
    player = replace(net.player(inference=inference, devices=devices), batch_size=MAX_LEAVES)
    Engine(net, player, commands=commands, say=_say).run()


def _say(text: str) -> None:
    print(printable(text), flush=True)
