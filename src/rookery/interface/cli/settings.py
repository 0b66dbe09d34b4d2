"""The options and arguments that commands share."""

import os
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rookery.interface.players import NetRef
    from rookery.training import Config

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
Recipe = Annotated[
    str | None, typer.Option("--recipe", help="Settings to start from; see rookery recipes.")
]
Actors = Annotated[
    str | None,
    typer.Option(
        "--actors",
        help="Processes that play beside the one that learns; auto = one a GPU, "
        "or on the CPU as many as the load asks for.",
    ),
]
ClusterAddress = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        help="Let processes run on a Ray cluster: HOST:PORT, auto (the one of this machine), "
        "or local (one for this command alone).",
    ),
]
NET = "A run folder, a game that a net comes with, or several as RUN+RUN, averaged."
Devices = Annotated[
    str,
    typer.Option("--devices", help="Where to compute: cpu, cuda:0, or auto, a GPU if any."),
]
Workers = Annotated[
    str,
    typer.Option(
        "--workers",
        help="Processes that share the work; 0 = this one alone, auto = one a core where it pays.",
    ),
]

TrustRules = Annotated[
    bool,
    typer.Option(
        "--trust-rules",
        help="Execute the rules file that a run folder names, and trust it from now on; read it "
        "first. Rules that you have trained with are trusted.",
    ),
]


def count_workers(text: str, devices: str) -> int | None:
    """How many processes `--workers` asks for, None = as many as pay; one keeps a GPU busy."""
    from rookery.base import ConfigError
    from rookery.gpu import find_device

    if text == "auto":
        return 0 if find_device(devices).type == "cuda" else None
    if not text.isdecimal():
        raise ConfigError(f"--workers takes a number or auto, got {text!r}")
    return int(text)


def check_new_files(*paths: Path | None) -> None:
    """ConfigError if one of the files cannot be written, or is there: nothing is overwritten."""
    from rookery.base import ConfigError

    new = [path for path in paths if path is not None]
    if len({path.resolve() for path in new}) < len(new):
        raise ConfigError(f"{new[0]} is to hold two things; choose another name for one")
    for path in new:
        if os.path.lexists(path):
            raise ConfigError(f"{path} exists already and is kept; choose another name")
        if not path.parent.is_dir():
            raise ConfigError(f"there is no folder {path.parent}; make it, or choose another place")
        if not os.access(path.parent, os.W_OK):
            raise ConfigError(f"{path.parent} cannot be written to; choose another place")


def print_note(note: str) -> None:
    """Tell of something unexpected, beside what was asked for."""
    print(f"note: {note}", file=sys.stderr, flush=True)


def placed(devices: str, actors: str | None, cluster: str | None) -> list[str]:
    """The settings that say where a run runs, as far as options were given."""
    given = {"devices": devices, "actors": actors, "cluster": cluster}
    return [f"run.{name}={value}" for name, value in given.items() if value]


def start_from(game: str, recipe: str | None, devices: str) -> "Config":
    """The settings that a new run of `game`, a name or a rules file, starts from."""
    from rookery.games import load_game as find_game
    from rookery.gpu import find_devices
    from rookery.interface.players import is_game
    from rookery.training import recipe_for

    device = find_devices(devices)[0]
    name = str(Path(game).resolve()) if is_game(game) and game.endswith(".py") else game
    find_game(name)
    return replace(recipe_for(name, recipe, on_gpu=device.type == "cuda"), game=name)


def changed(config: "Config", minutes: float | None, settings: Iterable[str] | None) -> "Config":
    """`config` with the options applied, `--set` last."""
    from rookery.training import apply

    length = [] if minutes is None else [f"run.minutes={minutes}", "run.iterations=0"]
    return apply(config, [*length, *(settings or ())])


def find_net(
    text: str, *, simulations: int = 100, iteration: int | None = None, trust_rules: bool
) -> "NetRef":
    """The net that `text` names, or an error where it names none."""
    from rookery.base import ConfigError
    from rookery.interface.players import read_net

    net = read_net(
        text, simulations=simulations, iteration=iteration, others=(), trust_rules=trust_rules
    )
    if net is None:
        raise ConfigError(f"{text} is a player without a net; give a run folder")
    return net
