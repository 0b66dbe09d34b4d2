"""Options and arguments shared by several commands."""

import sys
from collections.abc import Callable, Iterable, Sequence
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rookery.interface.cli.completion import complete_net, complete_recipe, complete_setting
from rookery.interface.printable import printable

if TYPE_CHECKING:
    from rookery.api import NetRef
    from rookery.training import Config


def whole(low: int, limit: str) -> Callable[[object], int]:
    """Return the parser of an option that is a number from `low` to `rookery.base.LIMIT`."""

    def parse(value: object) -> int:
        if isinstance(value, int):  # the default
            return value
        from rookery import base

        try:
            return base.read_whole("it", str(value), (low, getattr(base, limit)))
        except base.ConfigError as error:
            raise typer.BadParameter(str(error)) from error

    return parse


Minutes = Annotated[
    float | None,
    typer.Option(
        "--minutes",
        metavar="MINUTES",
        help="Train until the run has taken this long in total. Replaces the length of the recipe.",
    ),
]
Iterations = Annotated[
    int | None,
    typer.Option(
        "--iterations",
        parser=whole(0, "MAX_ITERATION"),
        metavar="N",
        help="Train until the run has made N iterations in total; 0 = no limit. Replaces the "
        "length of the recipe; with --minutes the run ends at whichever comes first.",
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        autocompletion=complete_setting,
        help="Change a setting, as in --set search.considered=8; repeatable.",
    ),
]
Recipe = Annotated[
    str | None,
    typer.Option(
        "--recipe",
        metavar="NAME",
        autocompletion=complete_recipe,
        help="Start from the settings of this recipe; see rookery recipes.",
    ),
]
Actors = Annotated[
    str | None,
    typer.Option(
        "--actors",
        metavar="N|auto",
        help="Play with N self-play processes beside the learner; auto = as many as the load "
        "requires, on cores, GPUs or a cluster.",
    ),
]
ClusterAddress = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS",
        help="Run the processes on a Ray cluster: HOST:PORT, auto (the cluster of this machine), "
        "or local (a cluster for this command alone).",
    ),
]
Log = Annotated[
    list[str] | None,
    typer.Option(
        "--log",
        metavar="TRACKER",
        help="Also send the statistics to tensorboard, wandb, trackio or mlflow; repeatable, or "
        "several separated by commas.",
    ),
]
Net = Annotated[
    str,
    typer.Argument(
        metavar="RUN|GAME",
        autocompletion=complete_net,
        help="Use a run folder, a game with a bundled network, or several averaged as RUN+RUN.",
    ),
]
Iteration = Annotated[
    int | None,
    typer.Option(
        parser=whole(0, "MAX_ITERATION"),
        metavar="N",
        help="Use the network of this iteration, not the newest.",
    ),
]
Seed = Annotated[
    int, typer.Option(parser=whole(0, "MAX_SEED"), metavar="N", help="Seed openings and players.")
]
Devices = Annotated[
    str,
    typer.Option(
        "--devices",
        metavar="DEVICE",
        help="Compute on cpu, cuda:0, all (GPUs), mps (Apple), or auto (a GPU if any).",
    ),
]
EvaluationDevices = Annotated[
    str,
    typer.Option(
        "--devices",
        metavar="DEVICES",
        help="Compute on cpu, cuda:0, auto (a GPU if there is one), or on several devices with one "
        "process each: cuda:0,cuda:1, all (GPUs), or cpu,cpu.",
    ),
]
Workers = Annotated[
    str,
    typer.Option(
        "--workers",
        metavar="N|auto",
        help="Share the work among N processes; 0 = this process alone, "
        "auto = one per core when worthwhile, or one per GPU if there are several.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
TrustRules = Annotated[
    bool,
    typer.Option(
        "--trust-rules",
        help="Execute the rules file that a run folder names, and trust it from now on; read it "
        "first. Rules that you have trained with are already trusted.",
    ),
]


def count_workers(text: str, places: Sequence[str]) -> int | None:
    """Return the processes that `--workers` requests; None = one per core when worthwhile.

    With several places `auto` is one process for each.
    """
    from rookery.base import MAX_PROCESSES, ConfigError, read_whole

    if text == "auto" and len(places) > 1:
        return len(places)
    if text == "auto":
        return None if places[0] == "cpu" else 0
    number = read_whole("--workers", text, (0, MAX_PROCESSES), words=", or auto")
    if number < len(places) > 1:
        raise ConfigError(
            f"--workers is {number}, expected at least one for each of {len(places)} devices; "
            "use more workers or fewer devices"
        )
    return number


def evaluation_places(devices: str) -> list[str]:
    """Return the devices of `--devices`, one for each process that evaluates."""
    from rookery.gpu import find_places

    return list(map(str, find_places(devices)))


def check_new_files(*paths: Path | None) -> None:
    """Raise ConfigError if a file exists, since none is overwritten, or cannot be written."""
    from rookery.base import check_new_files as check

    check(*paths)


def print_note(note: str) -> None:
    """Print a note to stderr."""
    print(printable(f"note: {note}"), file=sys.stderr, flush=True)


def print_device_note(devices: str, *, as_json: bool = False) -> None:
    """Print why `auto` has found no GPU, unless the output is JSON."""
    from rookery.gpu import why_cpu
    from rookery.interface.formatting import screen

    if not as_json and (why := why_cpu(devices)):
        screen().print(f"note: {why}", soft_wrap=True)


def print_forfeits(faults: Iterable[str]) -> None:
    """Print a note for each reason why games were forfeited."""
    for fault in dict.fromkeys(faults):
        print_note(f"forfeited: {fault}")


def finite(numbers: object) -> dict[str, float | None]:
    """Return the fields of a dataclass for JSON, with None for infinite ones."""
    return {name: each if isfinite(each) else None for name, each in vars(numbers).items()}


def with_options(
    config: "Config",
    minutes: float | None,
    settings: Iterable[str] | None,
    *,
    iterations: int | None = None,
) -> "Config":
    """Return `config` with the options applied, `--set` last."""
    from rookery.api import length_settings
    from rookery.training import apply

    return apply(config, [*length_settings(minutes, iterations), *(settings or ())])


def find_net(
    text: str, *, simulations: int = 100, iteration: int | None = None, trust_rules: bool
) -> "NetRef":
    """Return the network that `text` names, or raise ConfigError."""
    from rookery.api import read_net
    from rookery.base import ConfigError

    net = read_net(
        text, simulations=simulations, iteration=iteration, others=(), trust_rules=trust_rules
    )
    if net is None:
        raise ConfigError(f"{text} is a player without a network; give a run folder")
    return net
