"""Training with a display: progress, a clean stop on signals, and a summary."""

from collections.abc import Sequence
from contextlib import suppress
from math import ceil
from shlex import quote

from rich.console import Console

from rookery.interface.formatting import count, counted, duration, percent, program, rating
from rookery.interface.progress import progress_for
from rookery.interface.run_history import RunHistory, read_history
from rookery.interface.stopping import Stopping
from rookery.interface.trackers.sending import sending
from rookery.training import RunFolder, Stopped, train

FEW_UPDATES = 200
"""A network with fewer updates has learned little."""
ENOUGH_UPDATES = 1000
MAX_FACTOR = 20.0


def train_visibly(folder: RunFolder, console: Console, trackers: Sequence[str] = ()) -> None:
    """Train the run in `folder`, then print a summary and the next commands.

    The statistics are also sent to `trackers`, by name.
    A run that the user stops has not failed: the exit code is 0.
    """
    # Stopped is raised here only before the first iteration.
    with (
        sending(folder, trackers),
        Stopping() as stopping,
        progress_for(folder, console) as show,
        suppress(Stopped),
    ):
        train(folder, stopping.checked(show))
    summarise(folder, console)


def summarise(folder: RunFolder, console: Console) -> None:
    """Print the results of the run so far, and the next commands."""
    past = read_history(folder.path)
    state = "Finished" if past.is_finished else "Stopped"
    console.print(f"{state}: {folder.game.name} in {folder.path}", style="bold", soft_wrap=True)
    console.print(
        f"  {duration(past.seconds)} in total, {counted(past.iteration, 'iteration')}, "
        f"{counted(past.games, 'game')}, {count(past.positions)} positions",
        soft_wrap=True,
    )
    if best := past.strength:
        console.print(
            f"  {percent(best.errors)} {best.label}, at {best.simulations} simulations per move "
            f"(iteration {best.iteration})",
            soft_wrap=True,
        )
    if elo := past.elo:
        console.print(
            f"  Elo {rating(elo)}, at {past.elo_simulations} simulations per move "
            f"(iteration {list(past.ratings)[-1]})",
            soft_wrap=True,
        )
    if past.is_finished and past.updates < FEW_UPDATES:
        console.print(
            f"  {count(past.updates)} updates were made; expect little, try --minutes "
            f"{minutes_to_try(past)}",
            soft_wrap=True,
        )
    console.print("Next:", style="bold")
    commands = _commands(quote(str(folder.path)), past)
    width = max(len(command) for command, _ in commands)
    for command, meaning in commands:
        console.print(f"  {command:{width}}   {meaning}", markup=False, soft_wrap=True)


def minutes_to_try(past: RunHistory) -> int:
    """Return a longer time in total: twice as long, or what enough updates seem to take."""
    factor = min(max(ENOUGH_UPDATES / max(past.updates, 1), 2.0), MAX_FACTOR)
    return ceil(factor * max(past.seconds, 30) / 60)


def _commands(path: str, past: RunHistory) -> list[tuple[str, str]]:
    name = program()
    commands = [
        (f"{name} play {path}", "play against it"),
        (f"{name} eval {path}", "measure its strength"),
        (f"{name} match {path} random", "play it against other players"),
    ]
    if past.is_finished:
        longer = f"{name} resume {path} --minutes {minutes_to_try(past)}"
        return [*commands, (longer, "train it longer")]
    onward = (f"{name} resume {path}", "resume where it stopped")
    return [onward, *commands] if past.iteration else [onward]
