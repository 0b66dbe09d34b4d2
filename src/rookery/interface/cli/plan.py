"""`rookery plan`: settings of a run that suit this machine."""

import json
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from rookery.interface.cli.completion import complete_game
from rookery.interface.cli.settings import AsJson, Devices, Minutes, Recipe

if TYPE_CHECKING:
    from rookery.training import Plan


def plan(
    game: Annotated[
        str,
        typer.Argument(
            metavar="GAME|FILE",
            autocompletion=complete_game,
            help="Plan a run of this game or rules file.",
        ),
    ],
    minutes: Minutes = None,
    recipe: Recipe = None,
    devices: Devices = "auto",
    as_json: AsJson = False,
) -> None:
    """Measure this machine and propose the settings of a run, with reasons."""
    from rookery import api
    from rookery.interface.formatting import program

    found = api.plan(game, minutes=minutes, recipe=recipe, devices=devices)
    if as_json:
        print(json.dumps(found.to_plain()))
        return
    show_plan(found)
    length = f" --minutes {found.minutes:g}"
    print(f"To train with them: {program()} train {quote(game)} --plan{length}")


def show_plan(found: "Plan") -> None:
    """Print what was measured, the settings and what to expect."""
    from rookery.interface.formatting import count, new_table, screen

    console, machine = screen(), found.machine
    where = "" if machine.device == "cpu" else f"{machine.device}, "
    console.print(f"{where}{machine.cores} cores, {machine.memory_gb:.0f} GB of memory")
    numbers = ("weights", "simulations/s", "rows learned/s", "positions")
    measured = new_table("network", numbers=numbers)
    for trial in found.trials:
        speeds = (trial.simulations_per_second, trial.rows_per_second)
        figures = (trial.weights, *speeds, trial.positions)
        measured.add_row(f"{trial.net.width} x {trial.net.depth}", *map(count, figures))
    console.print(measured)
    table = new_table("setting", "value", "reason")
    for choice in found.choices:
        table.add_row(choice.name, str(choice.value), choice.reason)
    console.print(table)
    console.print(
        f"Expect about {count(found.positions)} positions and {count(found.updates)} updates in "
        f"{found.minutes:g} minutes; other settings are those of recipe {found.recipe}."
    )
