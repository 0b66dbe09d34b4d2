"""`rookery eval`: the strength of a run, compared with perfect play if the game is solved."""

import json
from contextlib import nullcontext
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated

import typer

from rookery.interface.cli.settings import (
    AsJson,
    ClusterAddress,
    EvaluationDevices,
    Iteration,
    Net,
    TrustRules,
    Workers,
    count_workers,
    evaluation_places,
    find_net,
    print_device_note,
    print_note,
)

if TYPE_CHECKING:
    from rookery.api import NetRef
    from rookery.arena import Strength
    from rookery.nets import OperationCount, SpikeCount

SPIKING_BOARDS = 256
"""Positions evaluated to count spikes."""
REFERENCES = {
    "connect4": "compared with perfect play on solved positions",
    "tictactoe": "compared with perfect play in every position",
}
"""What the rows are measured against, by game."""
OPPONENTS = "points lost against the opponent named in each row"


def evaluate(
    run: Net,
    simulations: Annotated[
        str,
        typer.Option(
            metavar="N,N",
            help="Measure with these simulations per move, as in 0,32; 0 is the network alone.",
        ),
    ] = "0,32,100",
    iteration: Iteration = None,
    devices: EvaluationDevices = "auto",
    workers: Workers = "auto",
    cluster: ClusterAddress = None,
    as_json: AsJson = False,
    trust_rules: TrustRules = False,
) -> None:
    """Measure a network: its share of errors, alone and with search."""
    from rookery.interface.formatting import screen
    from rookery.training import measure_over

    counts = read_counts(simulations)
    net = find_net(run, iteration=iteration, trust_rules=trust_rules)
    places = evaluation_places(devices)
    processes = count_workers(workers, places)
    player = net.player(inference=net.inference, devices=places[0])
    print_device_note(devices, as_json=as_json)
    console = screen()
    label = f"measuring {', '.join(map(heading, counts))}"
    with console.status(label) if console.is_terminal else nullcontext():
        strengths = measure_over(
            net.game,
            [replace(player, simulations=number) for number in counts],
            seed=net.seed,
            workers=processes,
            on_note=print_note,
            cluster=cluster or "",
            devices=places,
        )
    measured = dict(zip(counts, strengths, strict=True))
    spiking = count_spikes(net)
    if as_json:
        table = {str(number): asdict(strength) for number, strength in measured.items()}
        answer: dict[str, object] = {"run": run, "game": net.game.name, "strength": table}
        if spiking:
            spikes, operations = spiking
            kinds = {"spiking": operations.spiking, "residual": operations.residual}
            answer["spikes"] = asdict(spikes)
            answer["operations"] = {
                kind: {**asdict(each), "microjoules": each.microjoules}
                for kind, each in kinds.items()
            }
        print(json.dumps(answer))
    else:
        _show(run, net.game.name, measured)
        if spiking:
            _show_spikes(*spiking)


def read_counts(text: str) -> list[int]:
    """Return the numbers of simulations in `text`, or raise ConfigError."""
    from rookery.base import MAX_SIMULATIONS, read_whole

    words = ", or several as in 0,32,100"
    return sorted(
        {
            read_whole("--simulations", part.strip(), (0, MAX_SIMULATIONS), words=words)
            for part in text.split(",")
        }
    )


def count_spikes(net: "NetRef") -> "tuple[SpikeCount, OperationCount] | None":
    """Return spikes and operations per evaluation on boards of random games.

    None for networks without neurons.
    """
    import torch

    from rookery import nets
    from rookery.arena import sample_boards

    members = nets.Ensemble(each.load().build() for each in (net, *net.partners))
    boards = torch.from_numpy(sample_boards(net.game, SPIKING_BOARDS))
    spikes = nets.count_spikes(members, boards)
    return (spikes, nets.count_operations(members, boards)) if spikes else None


def heading(simulations: int) -> str:
    """Return the heading of a column."""
    return f"{simulations} simulations" if simulations else "network alone"


def _show(run: str, game: str, measured: "dict[int, Strength]") -> None:
    from rookery.interface.formatting import screen
    from rookery.interface.tables import error_table, not_best_table

    console = screen()
    columns = [(heading(number), strength) for number, strength in measured.items()]
    name = f"the network bundled with {game}" if run == game else f"{game} in {run}"
    console.print(f"{name}, {REFERENCES.get(game, OPPONENTS)}", style="bold")
    for table in (error_table(columns), not_best_table(columns)):
        if table is not None:
            console.print()
            console.print(table)


def _show_spikes(spikes: "SpikeCount", operations: "OperationCount") -> None:
    from rookery.interface.formatting import count, percent, screen

    console, spiking, residual = screen(), operations.spiking, operations.residual
    console.print()
    console.print(
        f"spikes per evaluation: {count(spikes.mean)}, {percent(100 * spikes.rate)} of "
        f"{count(spikes.maximum)} neurons x steps, on boards of random games"
    )
    console.print(
        f"operations per evaluation: {count(spiking.additions)} additions and "
        f"{count(spiking.multiply_accumulates)} multiply-accumulates, about "
        f"{spiking.microjoules:.3g} microjoules; a residual network of the same size: "
        f"{count(residual.multiply_accumulates)} multiply-accumulates, about "
        f"{residual.microjoules:.3g} microjoules"
    )
