"""`rookery scale`: change the workers of a run while it trains."""

import time
from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rookery.interface.cli.completion import complete_run
from rookery.interface.cli.settings import Actors, Devices

if TYPE_CHECKING:
    from rookery.interface.watch import RunWatcher

POLL_SECONDS = 0.1


def scale(
    run: Annotated[
        Path,
        typer.Argument(
            metavar="RUN",
            autocompletion=complete_run,
            help="Scale the run in this folder, which is training.",
        ),
    ],
    actors: Actors = None,
    trainers: Annotated[
        str | None,
        typer.Option(
            "--trainers", metavar="N|auto", help="Learn with N trainers from now on, or auto."
        ),
    ] = None,
    devices: Devices = "",
    timeout: Annotated[
        float,
        typer.Option(
            min=1.0,
            max=86_400.0,
            metavar="SECONDS",
            help="Wait this many seconds for the run, which answers between two updates of the "
            "learner; then withdraw the request.",
        ),
    ] = 120.0,
) -> None:
    """Change the number of actors and trainers, or the devices, of a run while it trains."""
    from rookery.api import placement
    from rookery.base import ConfigError, RunFolderError
    from rookery.interface.formatting import program, screen
    from rookery.interface.watch import RunWatcher
    from rookery.training import apply

    settings = placement(devices, actors, None)
    settings += [f"learning.workers={trainers}"] if trainers else []
    if not settings:
        raise ConfigError("there is nothing to change; give --actors, --trainers or --devices")
    watcher = RunWatcher(run)
    status = watcher.status()
    apply(status.config, settings)
    if not status.is_running:
        options = " ".join(f"--set {setting}" for setting in settings)
        raise RunFolderError(
            f"{run} is not training; to continue it with these settings: "
            f"{program()} resume {quote(str(run))} {options}"
        )
    answer = _ask(run, settings, watcher, timeout)
    if answer["refused"]:
        raise ConfigError(answer["refused"])
    counts = [_count(kind, answer[kind]) for kind in ("actors", "trainers") if answer.get(kind)]
    screen().print(f"Scaled {run}: {', '.join(counts)}, on {answer['devices']}", soft_wrap=True)


def _ask(
    run: Path, settings: Sequence[str], watcher: "RunWatcher", timeout: float
) -> dict[str, Any]:
    """Write a request and return the run's answer; withdraw the request if there is none."""
    from rookery.base import RunFolderError
    from rookery.training import write_request

    request = write_request(run, settings)
    try:
        answer = _wait_for_answer(request, watcher, timeout)
        if answer is None and not request.exists():  # it was taken a moment ago
            answer = _wait_for_answer(request, watcher, timeout)
    finally:
        request.unlink(missing_ok=True)
    if answer is None:
        is_running = watcher.status().is_running
        what = f"did not answer within {timeout:g} s" if is_running else "has stopped meanwhile"
        raise RunFolderError(f"{run} {what}; the request was withdrawn, try again")
    return answer


def _wait_for_answer(request: Path, watcher: "RunWatcher", timeout: float) -> dict[str, Any] | None:
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        status = watcher.status()
        if (answer := status.history.answers.get(request.stem)) or not status.is_running:
            return answer
        time.sleep(POLL_SECONDS)
    return None


def _count(kind: str, count: dict[str, int]) -> str:
    name = kind if count["size"] != 1 else kind.removesuffix("s")
    ready = "" if count["ready"] == count["size"] else f" ({count['ready']} ready)"
    return f"{count['size']} {name}{ready}"
