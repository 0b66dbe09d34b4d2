"""Diagnoses of the value head."""

from rookery.training.doctor.advising import change, do, raise_to
from rookery.training.doctor.evidence import MANY_UPDATES, Evidence
from rookery.training.doctor.finding import SHARE, Advice, Figure, Finding, Severity

CALIBRATION_ERROR, LARGE_ERROR = 0.06, 0.15
"""Mean difference of predicted and actual score, beyond chance."""
WORST_BINS = 3
USELESS, MISLEADING = 1.0, 1.2
"""Error of the search's values, relative to calling every position even."""
MIN_EXCESS = 0.1
"""By which the error must be larger: where most games are drawn, both errors are small."""
MIN_UPDATES = 200


def value_not_calibrated(evidence: Evidence) -> Finding | None:
    """Predicted scores differ from those of the games."""
    found = evidence.measured.reliability
    if found is None or not found.error > CALIBRATION_ERROR:
        return None
    worst = sorted(found.bins, key=lambda each: -each.excess * each.rows)[:WORST_BINS]
    off = [each for each in worst if each.excess]
    is_sure = sum((each.predicted - 0.5) * (each.predicted - each.scored) for each in off) > 0
    kind = "too sure of itself" if is_sure else "too cautious, or wrong"
    return Finding(
        "value-not-calibrated",
        Severity.PROBLEM if found.error > LARGE_ERROR else Severity.WARNING,
        f"The value head is not calibrated: it is {kind}.",
        (
            Figure("mean error of expected scores", found.error, SHARE, "at most 6 %"),
            *(
                Figure(
                    f"score of {each.rows:,} positions where {100 * each.predicted:.0f} % "
                    "is expected",
                    each.scored,
                    SHARE,
                )
                for each in sorted(off, key=lambda each: each.predicted)
            ),
            Figure("games looked at", found.games),
        ),
        _better_values(evidence),
    )


def value_not_learned(evidence: Evidence) -> Finding | None:
    """The value loss has no weight."""
    if evidence.config.learning.value_weight > 0:
        return None
    return Finding(
        "value-not-learned",
        Severity.PROBLEM,
        "The value head does not learn: its loss has no weight.",
        (Figure("learning.value_weight", evidence.config.learning.value_weight, "", "above 0"),),
        _better_values(evidence),
    )


def value_and_result_disagree(evidence: Evidence) -> Finding | None:
    """The search's values are no better than calling every position even."""
    error = evidence.mean("selfplay.value_error", by="selfplay.games")
    even = evidence.mean("selfplay.even_error", by="selfplay.games")
    relative = error / even if even > 0 else float("nan")
    is_misleading = relative > MISLEADING and error - even > MIN_EXCESS
    is_useless = relative > USELESS and evidence.updates >= MANY_UPDATES
    if evidence.updates < MIN_UPDATES or not (is_misleading or is_useless):
        return None
    return Finding(
        "value-and-result-disagree",
        Severity.PROBLEM if is_misleading else Severity.WARNING,
        "The search's values say less about the results of games than calling each game even.",
        (
            Figure("mean squared error of values", error),
            Figure("the same for a value of 0", even),
            Figure("the first relative to the second", relative, SHARE, "below 100 %"),
        ),
        _better_values(evidence),
    )


def _better_values(evidence: Evidence) -> tuple[Advice, ...]:
    config = evidence.config
    mix = raise_to(
        config, "learning.result_mix", 0.5, "learn values from results, not from the search alone"
    )
    weight = raise_to(config, "learning.value_weight", 1.0, "give the value loss its full weight")
    lower: tuple[Advice, ...] = ()
    if config.learning.reuse > 4:
        lower = (change(config, "learning.reuse", 3, "learn from every row less often"),)
    return (*mix, *weight, *lower) or (
        do("train longer, with more games: selfplay.games, or a larger replay.window_min"),
    )
