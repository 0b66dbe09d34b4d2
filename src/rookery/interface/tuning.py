"""A study in front of people: its runs as they go, its best trials, and what to type next."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from shlex import join

from rich.console import Console
from rich.table import Table

from rookery.interface.formatting import count, new_table, percent, program
from rookery.interface.progress import progress_for
from rookery.interface.stopping import Stopping
from rookery.training import RECIPES, TrialResult, Progress, ProgressCallback, RunFolder, Stopped, Study

BEST = 5
"""Trials that the table shows."""

Options = Sequence[tuple[str, str]]
"""Options of the command line, with their values."""


def tune_visibly(study: Study, trials: int, *, shared: Options, console: Console) -> None:
    """Make trials until there are so many in all, then show the best.

    `shared` are the options that all runs have in common, for the command that repeats the best.
    """
    with study:
        with suppress(Stopped), Stopping() as stopping:
            while study.num_done() < trials:
                stopping.check()
                heading = f"Trial {study.num_done() + 1} of {trials}"
                outcome = study.attempt(_Screen(heading, stopping, console).show)
                console.print(f"  {verdict(outcome)}", markup=False, soft_wrap=True)
        summarise(study, trials, shared=shared, console=console)


class _Screen:
    """Shows the run of one trial."""

    def __init__(self, heading: str, stopping: Stopping, console: Console) -> None:
        self._heading, self._stopping, self._console = heading, stopping, console

    @contextmanager
    def show(self, folder: RunFolder, settings: tuple[str, ...]) -> Iterator[ProgressCallback]:
        """Who watches the run in `folder`."""
        self._console.print(f"{self._heading}: {folder.path}", style="bold", soft_wrap=True)
        self._console.print(f"  {' '.join(settings)}", markup=False, soft_wrap=True)
        with progress_for(folder, self._console) as progress:

            def watch(moment: Progress) -> None:
                self._stopping.check()
                progress(moment)

            yield watch


def verdict(outcome: TrialResult) -> str:
    """How a trial has ended, in words."""
    errors = "" if outcome.errors is None else f", errors {percent(outcome.errors)}"
    return f"{outcome.ended}{errors}"


def summarise(study: Study, trials: int, *, shared: Options, console: Console) -> None:
    """Print the best trials, and the commands that go on from here."""
    outcomes = study.outcomes()
    state = "Finished" if len(outcomes) >= trials else "Stopped"
    number = f"{count(len(outcomes))} of {count(trials)} trials"
    console.print(f"{state}: {number} in {study.path}", style="bold", soft_wrap=True)
    if outcomes:
        console.print(best_table(outcomes[:BEST]))
    if outcomes and outcomes[0].is_finished:
        console.print("Train with the best settings:", style="bold")
        command = best_command(study, outcomes[0], shared)
        console.print(f"  {command}", markup=False, soft_wrap=True)
    if len(outcomes) < trials:
        console.print("The same command goes on.", style="bold")


def best_table(outcomes: Sequence[TrialResult]) -> Table:
    """A column a trial, in the order given; a row a setting."""
    table = new_table("")
    for outcome in outcomes:
        table.add_column(outcome.run.name, justify="right")
    errors = ("-" if each.errors is None else percent(each.errors) for each in outcomes)
    table.add_row("errors", *errors, style="bold")
    table.add_row("ended", *(outcome.ended for outcome in outcomes))
    pairs = [[setting.partition("=") for setting in each.settings] for each in outcomes]
    for row in zip(*pairs, strict=True):
        table.add_row(row[0][0], *(value for _, _, value in row))
    return table


def best_command(study: Study, outcome: TrialResult, shared: Options) -> str:
    """What trains a run like that of a trial."""
    config = study.config
    recipe = [("--recipe", config.recipe)] if config.recipe in RECIPES else []
    own = [("--set", setting) for setting in outcome.settings]
    options = (word for option in (*recipe, *shared, *own) for word in option)
    return f"{program()} {join(['train', config.game, *options])}"
