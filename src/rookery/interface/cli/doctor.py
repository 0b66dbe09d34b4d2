"""`rookery doctor`: what is wrong with a run, why, and which settings to change."""

import json
from contextlib import nullcontext
from math import ceil
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from rookery.interface.cli.completion import complete_run
from rookery.interface.cli.settings import AsJson, TrustRules

if TYPE_CHECKING:
    from rookery.api import Run
    from rookery.interface.formatting import Screen
    from rookery.training import Advice, Finding

STYLES = {"problem": "bold red", "warning": "bold yellow", "note": "bold"}


def doctor(
    run: Annotated[
        Path,
        typer.Argument(
            metavar="RUN",
            autocompletion=complete_run,
            help="Look at the run in this folder; it may train on.",
        ),
    ],
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Read the statistics only; leave out what takes several seconds."
        ),
    ] = False,
    as_json: AsJson = False,
    trust_rules: TrustRules = False,
) -> None:
    """Say what is wrong with a run, why, and which settings to change."""
    from rookery.api import open_run
    from rookery.interface.formatting import screen

    found, console = open_run(run, trust_rules=trust_rules), screen()
    is_shown = console.is_terminal and not (as_json or quick)
    with console.status("looking at its games and network") if is_shown else nullcontext():
        findings = found.diagnose(quick=quick)
    if as_json:
        print(json.dumps(_to_plain(found, findings, quick=quick)))
    else:
        _show(console, found, findings)


def _to_plain(run: "Run", findings: "list[Finding]", *, quick: bool) -> dict[str, object]:
    return {
        "run": str(run.path),
        "game": run.game.name,
        "iterations": len(run.stats()),
        "quick": quick,
        "findings": [finding.to_plain() for finding in findings],
    }


def _show(console: "Screen", run: "Run", findings: "list[Finding]") -> None:
    title = f"{run.game.name} in {run.path}, {len(run.stats()):,} iterations"
    if not findings:
        console.print(f"{title}: nothing wrong was found", soft_wrap=True)
        return
    console.print(title, style="bold", soft_wrap=True)
    for finding in findings:
        console.print()
        _show_finding(console, finding)
    if commands := _commands(run, findings):
        console.print()
        for line in commands:
            console.print(line, soft_wrap=True)


def _show_finding(console: "Screen", finding: "Finding") -> None:
    from rich.padding import Padding

    severity = str(finding.severity)
    console.print(severity, style=STYLES[severity], end=" ")
    console.print(finding.name, style="bold")
    console.print(Padding(finding.what, (0, 0, 0, 2)))
    width = max((len(figure.label) for figure in finding.why), default=0)
    for figure in finding.why:
        expected = f"  (expected: {figure.expected})" if figure.expected else ""
        line = f"{figure.label:{width}}  {figure.text}{expected}"
        console.print(Padding(line, (0, 0, 0, 4)), style="dim")
    for advice in finding.advice:
        console.print(Padding(_advice_line(advice), (0, 0, 0, 2)))


def _advice_line(advice: "Advice") -> str:
    if not advice.setting:
        return f"-> {advice.text}"
    return f"-> {advice.setting}={advice.value} (now {advice.present}): {advice.text}"


def _commands(run: "Run", findings: "list[Finding]") -> list[str]:
    """Return the commands that follow the advice: for this run, and for a new one."""
    from rookery.interface.formatting import program
    from rookery.training import can_change, set_option

    advice: dict[str, Advice] = {}
    for each in (each for finding in findings for each in finding.advice if each.setting):
        advice.setdefault(each.setting, each)
    later = [set_option(each) for each in advice.values() if can_change(each.setting)]
    anew = [set_option(each) for each in advice.values() if not can_change(each.setting)]
    lines = []
    if later:
        resume = f"{program()} resume {quote(str(run.path))}{_longer(run)}"
        lines = [f"Continue with: {resume} {' '.join(later)}"]
    if anew:
        lines.append(f"A new run alone can have: {' '.join(anew)}")
    return lines


def _longer(run: "Run") -> str:
    """Return the option that continues a finished run, twice as long; empty if it has not ended."""
    last = run.stats().lines[-1]
    return f" --minutes {ceil(2 * last['seconds'] / 60)}" if last["kind"] == "finished" else ""
