"""Training with a display: progress, a clean stop on signals, and a summary."""

from contextlib import suppress
from math import ceil
from shlex import quote

from rich.console import Console

from rookery.interface.formatting import count, duration, percent, program
from rookery.interface.progress import progress_for
from rookery.interface.run_history import RunHistory, read_history
from rookery.interface.stopping import Stopping
from rookery.training import Progress, RunFolder, Stopped, train


def train_visibly(folder: RunFolder, console: Console) -> None:
    """Train the run in `folder`, then print a summary and the next commands.

    A run that the user stops has not failed: the exit code is 0.
    """
    with Stopping() as stopping, progress_for(folder, console) as show:

        def watch(report: Progress) -> None:
            stopping.check()
            show(report)

        with suppress(Stopped):  # raised here only before the first iteration
            train(folder, watch)
    summarise(folder, console)


def summarise(folder: RunFolder, console: Console) -> None:
    """Print the results of the run so far, and the next commands."""
    past = read_history(folder.path)
    state = "Finished" if past.is_finished else "Stopped"
    console.print(f"{state}: {folder.game.name} in {folder.path}", style="bold", soft_wrap=True)
    for line in _figures(past):
        console.print(f"  {line}", soft_wrap=True)
    console.print("Next:", style="bold")
    _print_commands(folder, past, console=console)


def _figures(past: RunHistory) -> list[str]:
    lines = [
        f"{duration(past.seconds)} in total, {count(past.iteration)} iterations, "
        f"{count(past.games)} games, {count(past.positions)} positions"
    ]
    if past.strength:
        best = past.strength
        lines.append(
            f"{percent(best.errors)} {best.label}, at {best.simulations} simulations per move "
            f"(iteration {best.iteration})"
        )
    return lines


def _print_commands(folder: RunFolder, past: RunHistory, *, console: Console) -> None:
    commands = _commands(quote(str(folder.path)), past)
    width = max(len(command) for command, _ in commands)
    for command, meaning in commands:
        console.print(f"  {command:{width}}   {meaning}", markup=False, soft_wrap=True)


def _commands(path: str, past: RunHistory) -> list[tuple[str, str]]:
    longer = f"--minutes {ceil(max(past.seconds, 30) / 30)}"
    further = (
        ("train it longer", f" {longer}") if past.is_finished else ("resume where it stopped", "")
    )
    name = program()
    commands = [
        (f"{name} play {path}", "play against it"),
        (f"{name} eval {path}", "measure its strength"),
        (f"{name} match {path} random", "play it against other players"),
    ]
    onward = (f"{name} resume {path}{further[1]}", further[0])
    if past.is_finished:
        return [*commands, onward]
    return [onward, *commands] if past.iteration else [onward]
