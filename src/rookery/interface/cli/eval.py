"""`rookery eval`: how strong a run is, beside the truth where the game is solved."""

import json
from contextlib import nullcontext
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated

import typer

from rookery.interface.cli.settings import (
    NET,
    ClusterAddress,
    Devices,
    TrustRules,
    Workers,
    count_workers,
    find_net,
    print_note,
)

if TYPE_CHECKING:
    from rookery.arena import Strength
    from rookery.interface.players import NetRef
    from rookery.nets import SpikeCount

SPIKING_BOARDS = 256
"""Shown to a net to count its spikes."""


def evaluate(
    run: Annotated[str, typer.Argument(metavar="RUN|GAME", help=NET)],
    simulations: Annotated[
        str, typer.Option(help="Simulations a move, separated by commas; 0 is the bare net.")
    ] = "0,32,100",
    iteration: Annotated[
        int | None, typer.Option(help="Measure the net of this iteration, not the newest.")
    ] = None,
    devices: Devices = "auto",
    workers: Workers = "auto",
    cluster: ClusterAddress = None,
    as_json: Annotated[bool, typer.Option("--json", help="Answer in one line of JSON.")] = False,
    trust_rules: TrustRules = False,
) -> None:
    """Measure a net: its share of mistakes, alone and with search."""
    counts = read_counts(simulations)
    net = find_net(run, iteration=iteration, trust_rules=trust_rules)
    processes = count_workers(workers, devices)
    measured = measure(
        net, counts=counts, devices=devices, workers=processes, cluster=cluster or ""
    )
    spikes = count_spikes(net)
    if as_json:
        table = {str(number): asdict(strength) for number, strength in measured.items()}
        answer = {"run": run, "game": net.game.name, "strength": table}
        print(json.dumps({**answer, "spikes": asdict(spikes)} if spikes else answer))
    else:
        _show(run, net.game.name, measured, spikes)


def read_counts(text: str) -> list[int]:
    """The numbers of simulations in `text`, or ConfigError."""
    from rookery.base import ConfigError

    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise ConfigError(f"--simulations takes numbers like 0,32,100, got {text!r}")
    return sorted({int(part) for part in parts})


def measure(
    net: "NetRef", *, counts: list[int], devices: str, workers: int | None, cluster: str
) -> "dict[int, Strength]":
    """What the game's ruler says at each number of simulations."""
    from rookery.interface.formatting import screen
    from rookery.training import measure_over

    player = net.player(inference=net.inference, devices=devices)
    players = [replace(player, simulations=number) for number in counts]
    console = screen()
    waiting = f"measuring {', '.join(map(heading, counts))}"
    with console.status(waiting) if console.is_terminal else nullcontext():
        measured = measure_over(
            net.game,
            players,
            seed=net.seed,
            workers=workers,
            on_note=print_note,
            cluster=cluster,
        )
    return dict(zip(counts, measured, strict=True))


def count_spikes(net: "NetRef") -> "SpikeCount | None":
    """How much the net spikes on boards of random games; None if it is none that spikes."""
    import torch

    from rookery import nets
    from rookery.arena import sample_boards

    members = nets.Ensemble(each.load().build() for each in (net, *net.partners))
    return nets.count_spikes(members, torch.from_numpy(sample_boards(net.game, SPIKING_BOARDS)))


def heading(simulations: int) -> str:
    """How tables call a player by its simulations."""
    return f"{simulations} simulations" if simulations else "bare net"


def _show(
    run: str, game: str, measured: "dict[int, Strength]", spikes: "SpikeCount | None"
) -> None:
    from rookery.interface.formatting import count, percent, screen
    from rookery.interface.tables import error_table, not_best_table

    console = screen()
    columns = [(heading(number), strength) for number, strength in measured.items()]
    heading_line = f"the net that comes with {game}" if run == game else f"{game} in {run}"
    console.print(heading_line, style="bold", soft_wrap=True)
    for table in (error_table(columns), not_best_table(columns)):
        if table is not None:
            console.print()
            console.print(table)
    if spikes is not None:
        console.print()
        console.print(
            f"spikes an evaluation: {count(spikes.mean)}, {percent(100 * spikes.rate)} of the "
            f"{count(spikes.maximum)} there could be (neurons x steps; boards of random games)",
            soft_wrap=True,
        )
