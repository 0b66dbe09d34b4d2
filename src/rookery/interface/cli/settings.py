"""The options and arguments that commands share."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rookery.interface.players import NetText
    from rookery.run import Config

Minutes = Annotated[
    float | None,
    typer.Option(
        "--minutes",
        help="Train until the run has taken this long in all, however many iterations that is.",
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", help="Change a setting, as in --set search.considered=8; repeatable."),
]
Actors = Annotated[
    str | None,
    typer.Option("--actors", help="Processes that play beside the one that learns; auto = a core."),
]
NET = "A run folder, or a game that a net comes with."
Devices = Annotated[
    str,
    typer.Option("--devices", help="Where to compute: cpu, cuda:0, or auto, a GPU if any."),
]


def changed(config: "Config", minutes: float | None, settings: Iterable[str] | None) -> "Config":
    """`config` with the options applied, `--set` last."""
    from rookery.run import apply

    length = [] if minutes is None else [f"run.minutes={minutes}", "run.iterations=0"]
    return apply(config, [*length, *(settings or ())])


def find_net(text: str, *, simulations: int = 100, iteration: int | None = None) -> "NetText":
    """The net that `text` names, or an error where it names none."""
    from rookery.base import ConfigError
    from rookery.interface.players import read_net

    net = read_net(text, simulations=simulations, iteration=iteration, others=())
    if net is None:
        raise ConfigError(f"{text} is a player without a net; give a run folder")
    return net
