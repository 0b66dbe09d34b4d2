"""The options that `train` and `resume` share."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
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
Devices = Annotated[
    str,
    typer.Option("--devices", help="Where to compute: cpu, cuda:0, or auto, a GPU if any."),
]


def changed(config: "Config", minutes: float | None, settings: Iterable[str] | None) -> "Config":
    """`config` with the options applied, `--set` last."""
    from rookery.run import apply

    length = [] if minutes is None else [f"run.minutes={minutes}", "run.iterations=0"]
    return apply(config, [*length, *(settings or ())])
