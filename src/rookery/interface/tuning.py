"""A study with a display: progress of its runs, the best trials, and the next commands."""

import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from shlex import join

from rich.console import Console
from rich.table import Table

from rookery.interface.formatting import count, new_table, percent, program
from rookery.interface.progress import PLAIN_SECONDS, progress_for
from rookery.interface.stopping import Stopping
from rookery.training import (
    RECIPES,
    ProgressCallback,
    RunFolder,
    Stopped,
    Study,
    TrialPool,
    TrialResult,
)

IDLE_SECONDS = 0.05
TABLE_TRIALS = 5
"""Number of trials in the table."""

Options = Sequence[tuple[str, str]]
"""Options of the command line, with their values."""


def tune_visibly(
    study: Study, trials: int, *, shared: Options, console: Console, workers: int = 0
) -> None:
    """Run trials until the study has `trials`, then show the best.

    `shared` holds the options of all runs, for the command that repeats the best one. Without
    `workers` the trials run one after another in this process.
    """
    with study:
        with suppress(Stopped), Stopping() as stopping:
            if workers and study.num_done() < trials:
                _run_parallel(study, trials, workers, stopping=stopping, console=console)
            while (done := study.num_done()) < trials:
                stopping.check()
                heading = f"Trial {done + 1} of {trials}"
                outcome = study.attempt(partial(_show_trial, heading, stopping, console))
                console.print(f"  {verdict(outcome)}", markup=False, soft_wrap=True)
        summarise(study, trials, shared=shared, console=console)


def _run_parallel(
    study: Study, trials: int, workers: int, *, stopping: Stopping, console: Console
) -> None:
    """Run trials in worker processes; print a line when one begins and when one ends."""

    def show(text: str, style: str = "") -> None:
        console.print(text, style=style, markup=False, soft_wrap=True)

    with closing(TrialPool(study, workers, on_note=lambda note: show(f"note: {note}"))) as pool:
        shown = time.monotonic()
        while (done := study.num_done()) < trials:
            stopping.check()
            for event in pool.poll(trials):
                if isinstance(event, TrialResult):
                    done += 1
                    show(f"  {event.run.name}: {verdict(event)}; {done} of {trials} trials")
                else:
                    show(f"Trial in {event.folder.path}", "bold")
                    show(f"  {' '.join(event.settings)}")
            if time.monotonic() - shown >= PLAIN_SECONDS:
                shown = time.monotonic()
                show(f"  {', '.join(f'{name} {part:.0%}' for name, part in pool.progress())}")
            time.sleep(IDLE_SECONDS)


@contextmanager
def _show_trial(
    heading: str, stopping: Stopping, console: Console, folder: RunFolder, settings: tuple[str, ...]
) -> Iterator[ProgressCallback]:
    """Yield the progress callback of the run in `folder`."""
    console.print(f"{heading}: {folder.path}", style="bold", soft_wrap=True)
    console.print(f"  {' '.join(settings)}", markup=False, soft_wrap=True)
    with progress_for(folder, console) as show:
        yield stopping.checked(show)


def verdict(outcome: TrialResult) -> str:
    """Describe how a trial ended."""
    errors = "" if outcome.errors is None else f", errors {percent(outcome.errors)}"
    return f"{outcome.ended}{errors}"


def summarise(study: Study, trials: int, *, shared: Options, console: Console) -> None:
    """Print the best trials, and the next commands."""
    outcomes = study.outcomes()
    state = "Finished" if len(outcomes) >= trials else "Stopped"
    number = f"{count(len(outcomes))} of {count(trials)} trials"
    console.print(f"{state}: {number} in {study.path}", style="bold", soft_wrap=True)
    if outcomes:
        console.print(best_table(outcomes[:TABLE_TRIALS]))
    if outcomes and outcomes[0].is_finished:
        console.print("Train with the best settings:", style="bold")
        command = best_command(study, outcomes[0], shared)
        console.print(f"  {command}", markup=False, soft_wrap=True)
    if len(outcomes) < trials:
        console.print("Repeat the command to continue the study.", style="bold")


def best_table(outcomes: Sequence[TrialResult]) -> Table:
    """Return a table with one column per trial and one row per setting."""
    table = new_table("", numbers=[outcome.run.name for outcome in outcomes])
    errors = ("-" if each.errors is None else percent(each.errors) for each in outcomes)
    table.add_row("errors", *errors, style="bold")
    table.add_row("ended", *(outcome.ended for outcome in outcomes))
    pairs = [[setting.partition("=") for setting in each.settings] for each in outcomes]
    for row in zip(*pairs, strict=True):
        table.add_row(row[0][0], *(value for _, _, value in row))
    return table


def best_command(study: Study, outcome: TrialResult, shared: Options) -> str:
    """Return the command that trains a run with the settings of a trial."""
    config = study.config
    recipe = [("--recipe", config.recipe)] if config.recipe in RECIPES else []
    own = [("--set", setting) for setting in outcome.settings]
    options = (word for option in (*recipe, *shared, *own) for word in option)
    return f"{program()} {join(['train', config.game, *options])}"
