"""`rookery eval`: how strong a run is, beside the truth where the game is solved."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rookery.interface.cli.settings import Devices

if TYPE_CHECKING:
    from rookery.arena import Strength
    from rookery.run import RunFolder


def evaluate(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    simulations: Annotated[
        str, typer.Option(help="Simulations a move, separated by commas; 0 is the bare net.")
    ] = "0,32,100",
    iteration: Annotated[
        int | None, typer.Option(help="Measure the net of this iteration, not the newest.")
    ] = None,
    devices: Devices = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="Answer in one line of JSON.")] = False,
) -> None:
    """Measure a run's net: its share of mistakes, alone and with search."""
    from rookery.run import RunFolder

    counts = read_counts(simulations)
    folder = RunFolder(run)
    measured = measure(folder, iteration, counts=counts, devices=devices)
    if as_json:
        table = {str(number): asdict(strength) for number, strength in measured.items()}
        answer = {"run": str(run), "game": folder.game.name, "strength": table}
        print(json.dumps(answer))
    else:
        _show(folder, measured)


def read_counts(text: str) -> list[int]:
    """The numbers of simulations in `text`, or ConfigError."""
    from rookery.base import ConfigError

    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise ConfigError(f"--simulations takes numbers like 0,32,100, got {text!r}")
    return sorted({int(part) for part in parts})


def measure(
    folder: "RunFolder", iteration: int | None, *, counts: list[int], devices: str
) -> "dict[int, Strength]":
    """What the game's ruler says at each number of simulations."""
    from rookery.arena import SearchPlayer, ruler_for
    from rookery.interface.players import evaluator_of
    from rookery.interface.wording import screen

    evaluator = evaluator_of(
        folder, iteration, inference=folder.config.run.inference, devices=devices
    )
    ruler, console = ruler_for(folder.game), screen()
    measured: dict[int, Strength] = {}
    for number in counts:
        player = SearchPlayer(
            folder.game,
            evaluator,
            config=folder.config.search,
            simulations=number,
            seed=folder.config.run.seed,
            name=heading(number),
        )
        if console.is_terminal:
            with console.status(f"measuring {heading(number)}"):
                measured[number] = ruler.measure(player)
        else:
            measured[number] = ruler.measure(player)
    return measured


def heading(simulations: int) -> str:
    """How tables call a player by its simulations."""
    return f"{simulations} simulations" if simulations else "bare net"


def _show(folder: "RunFolder", measured: "dict[int, Strength]") -> None:
    from rookery.interface.tables import error_table, not_best_table
    from rookery.interface.wording import screen

    console = screen()
    columns = [(heading(number), strength) for number, strength in measured.items()]
    console.print(f"{folder.game.name} in {folder.path}", style="bold", soft_wrap=True)
    for table in (error_table(columns), not_best_table(columns)):
        if table is not None:
            console.print()
            console.print(table)
