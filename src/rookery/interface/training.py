"""A run in front of people: its progress, its end by signal or by itself, its summary."""

from contextlib import suppress
from math import ceil
from shlex import quote

from rich.console import Console

from rookery.interface.formatting import count, duration, percent, program
from rookery.interface.history import History, read_history
from rookery.interface.progress import progress_for
from rookery.interface.stopping import Stopping
from rookery.training import Progress, RunFolder, Stopped, train


def train_visibly(folder: RunFolder, console: Console) -> None:
    """Train the run in `folder`, then say what was reached and what to type next.

    A run that was stopped has ended as it was asked to: that is no failure, and the exit code is 0.
    """
    with Stopping() as stopping, progress_for(folder, console) as show:

        def watch(moment: Progress) -> None:
            stopping.check()
            show(moment)

        with suppress(Stopped):  # which reaches us only before the first iteration
            train(folder, watch)
    summarise(folder, console)


def summarise(folder: RunFolder, console: Console) -> None:
    """Print what the run has reached so far, and the next commands."""
    past = read_history(folder.path)
    state = "Finished" if past.is_finished else "Stopped"
    console.print(f"{state}: {folder.game.name} in {folder.path}", style="bold", soft_wrap=True)
    for line in _figures(past):
        console.print(f"  {line}", soft_wrap=True)
    console.print("Next:", style="bold")
    _print_commands(folder, past, console=console)


def _figures(past: History) -> list[str]:
    lines = [
        f"{duration(past.seconds)} of training, {count(past.iteration)} iterations, "
        f"{count(past.games)} games, {count(past.positions)} positions"
    ]
    if past.strength:
        best = past.strength
        lines.append(
            f"{percent(best.errors)} {best.label}, at {best.simulations} simulations a move "
            f"(iteration {best.iteration})"
        )
    return lines


def _print_commands(folder: RunFolder, past: History, *, console: Console) -> None:
    commands = _commands(quote(str(folder.path)), past)
    width = max(len(command) for command, _ in commands)
    for command, meaning in commands:
        console.print(f"  {command:{width}}   {meaning}", markup=False, soft_wrap=True)


def _commands(path: str, past: History) -> list[tuple[str, str]]:
    longer = f"--minutes {ceil(max(past.seconds, 30) / 30)}"
    further = (
        ("train it longer", f" {longer}") if past.is_finished else ("go on where it stopped", "")
    )
    name = program()
    commands = [
        (f"{name} play {path}", "play against it"),
        (f"{name} eval {path}", "measure it"),
        (f"{name} match {path} random", "let it play others"),
    ]
    onward = (f"{name} resume {path}{further[1]}", further[0])
    if past.is_finished:
        return [*commands, onward]
    return [onward, *commands] if past.iteration else [onward]
