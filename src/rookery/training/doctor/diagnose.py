"""All diagnoses, and the doctor who makes them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from rookery.base import FileDamaged
from rookery.training.doctor import games, learning, policy, rules, speed, value
from rookery.training.doctor.evidence import Evidence, Line
from rookery.training.doctor.finding import Figure, Finding, Severity, worst_first
from rookery.training.doctor.probes import measure
from rookery.training.store.folder import RunFolder
from rookery.training.store.stats import Stats

Diagnosis = Callable[[Evidence], Finding | None]

MIN_ITERATIONS, MIN_UPDATES = 8, 50
"""A run with less of either is too short to judge."""
DIAGNOSES: tuple[Diagnosis, ...] = (
    learning.rate_too_low,
    learning.overfitting,
    learning.underfitting,
    learning.small_window,
    learning.stale_data,
    learning.stale_actors,
    games.duplicate_games,
    games.one_result,
    games.resignation_errors,
    policy.low_entropy,
    policy.flat_entropy,
    policy.few_simulations,
    policy.search_without_gain,
    value.value_not_calibrated,
    value.value_not_learned,
    value.value_and_result_disagree,
    speed.starved_learner,
    speed.starved_actors,
    speed.waiting_trainers,
    speed.idle_device,
    speed.lost_time,
)
"""Those that need a run of some length."""
AT_ANY_LENGTH: tuple[Diagnosis, ...] = (rules.suspect_rules, learning.rate_too_high)


def diagnose(folder: RunFolder, *, quick: bool = False) -> list[Finding]:
    """Return what is wrong with a run, worst first; `quick` leaves out what takes seconds."""
    lines = _read(folder.path)
    evidence = Evidence(folder.config, lines)
    is_long = too_short(evidence) is None
    if not quick:
        evidence = Evidence(folder.config, lines, measure(folder, can_judge=is_long))
    return findings(evidence)


def findings(evidence: Evidence) -> list[Finding]:
    """Return what all diagnoses say, worst first."""
    short = too_short(evidence)
    made = [] if short else [diagnosis(evidence) for diagnosis in DIAGNOSES]
    made += [diagnosis(evidence) for diagnosis in AT_ANY_LENGTH]
    return worst_first([_with_changes(each) for each in (*made, short) if each is not None])


def too_short(evidence: Evidence) -> Finding | None:
    """Return the note that a run is too short to judge, if it is."""
    number = len(evidence.iterations)
    if number >= MIN_ITERATIONS and evidence.updates >= MIN_UPDATES:
        return None
    return Finding(
        "too-short",
        Severity.NOTE,
        "The run is too short to judge; let it train a little longer.",
        (
            Figure("iterations", number, "", f"at least {MIN_ITERATIONS}"),
            Figure("updates", evidence.updates, "", f"at least {MIN_UPDATES}"),
        ),
    )


def _with_changes(finding: Finding) -> Finding:
    """Return a finding without the advice to set what is set already."""
    kept = [each for each in finding.advice if not each.setting or each.value != each.present]
    return replace(finding, advice=tuple(kept))


def _read(run: Path) -> Sequence[Line]:
    """Return the statistics of a run; FileDamaged if there are none where there must be some."""
    stats = Stats(run)
    lines = list(stats.lines())
    has_trained = any((run / "weights").glob("*.safetensors"))
    if not lines and (has_trained or stats.path.exists()):
        raise FileDamaged(f"{stats.path} is missing or damaged; restore it from a copy")
    return lines
