"""Diagnoses of learning: its rate, how often rows are used, and which rows."""

from math import log, nan

import numpy as np

from rookery.replay import ReplayConfig
from rookery.training.doctor.advising import change, do
from rookery.training.doctor.evidence import Evidence
from rookery.training.doctor.finding import SHARE, Figure, Finding, Severity
from rookery.training.loop import LEARNING_FAILED

KNOWS_NOTHING = 1.05
"""Losses relative to those of equal probabilities."""
SMALL_FALL = 0.03
"""Fall of the total loss over the run that counts as none."""
MIN_UPDATES = 200
MANY_USES, FEW_USES = 10.0, 0.5
"""Rows learned from per new row; docs/experiments.md has runs from 1.5 to 8, all of them good."""
FEW_ITERATIONS_KEPT = 2.0
"""Rows of the window per new row of an iteration; those of the recipes are 4 and more."""
FEW_BATCHES_KEPT = 8
KEPT_SHARE = 0.9
"""Share of all rows ever made that are still in the window."""
STALE_ITERATIONS, STALE_UPDATES = 40, 1000
MAX_STALENESS = 3.0
"""Iterations by which the weights of actors may be old."""


def rate_too_high(evidence: Evidence) -> Finding | None:
    """Learning diverges, or ends worse than it began."""
    failures = sum(note.startswith(LEARNING_FAILED) for note in evidence.notes)
    policy, value = (_loss(evidence, name) for name in ("policy", "value"))
    uniform, clip = evidence.mean("window.uniform_entropy"), evidence.config.learning.clip_norm
    norm = _loss(evidence, "gradient_norm")
    is_worse = policy > KNOWS_NOTHING * uniform > 0 or value > KNOWS_NOTHING * log(3)
    is_long = evidence.updates >= MIN_UPDATES
    if not (failures or (is_long and (is_worse or norm > clip))):
        return None
    rate = evidence.config.learning.learning_rate
    return Finding(
        "learning-rate-too-high",
        Severity.PROBLEM if failures or is_worse else Severity.WARNING,
        _high_rate_text(failures, is_worse=is_worse),
        (
            Figure("failures of learning", failures, "", "none"),
            Figure("policy loss", policy, "nats"),
            Figure("policy loss of equal probabilities", uniform, "nats", "more than the former"),
            Figure("value loss", value, "nats", f"below {log(3):.2f} nats"),
            Figure("norm of the gradient", norm, "", f"below learning.clip_norm, {clip:g}"),
        ),
        (
            change(
                evidence.config,
                "learning.learning_rate",
                min(rate / 4, 0.002),
                "make smaller steps",
            ),
        ),
    )


def rate_too_low(evidence: Evidence) -> Finding | None:
    """The loss hardly falls over the whole run."""
    first = evidence.mean("learning.losses.total", slice(0, 1))
    last, rate = _loss(evidence, "total"), evidence.config.learning.learning_rate
    if evidence.began_trained or evidence.updates < MIN_UPDATES:
        return None
    if not last > (1 - SMALL_FALL) * first or rate_too_high(evidence) is not None:
        return None
    return Finding(
        "learning-rate-too-low",
        Severity.PROBLEM,
        "The loss hardly falls: the network does not learn.",
        (
            Figure("total loss at the beginning", first, "nats"),
            Figure("total loss now", last, "nats", f"at least {SMALL_FALL:.0%} lower"),
            Figure("updates", evidence.updates),
            Figure("learning.learning_rate", rate),
        ),
        (
            change(
                evidence.config,
                "learning.learning_rate",
                max(10 * rate, 0.001),
                "make larger steps",
            ),
        ),
    )


def overfitting(evidence: Evidence) -> Finding | None:
    """Every row is learned from many times."""
    uses, reuse = rows_per_new_row(evidence), evidence.config.learning.reuse
    if not uses > MANY_USES:
        return None
    return Finding(
        "overfitting",
        Severity.WARNING,
        "The network learns from every row many times: it learns single games by heart.",
        (
            Figure("rows learned from per new row", uses, "", f"at most {MANY_USES:g}"),
            Figure("value accuracy on these rows", _loss(evidence, "value_accuracy"), SHARE),
        ),
        (change(evidence.config, "learning.reuse", min(3, reuse), "learn from rows less often"),),
    )


def underfitting(evidence: Evidence) -> Finding | None:
    """Most rows are never learned from."""
    uses = rows_per_new_row(evidence)
    if not uses < FEW_USES:
        return None
    return Finding(
        "underfitting",
        Severity.WARNING,
        "Most rows are never learned from: self-play makes more than learning uses.",
        (Figure("rows learned from per new row", uses, "", f"at least {FEW_USES:g}"),),
        (change(evidence.config, "learning.reuse", 2, "learn more from every row"),),
    )


def small_window(evidence: Evidence) -> Finding | None:
    """The window holds little more than the newest games."""
    rows, new = evidence.mean("window.rows"), new_rows_per_iteration(evidence)
    drops = evidence.column("window.rows")[-1] < evidence.column("window.rows_made")[-1]
    batch = evidence.config.learning.batch_size
    if not (drops and rows < max(FEW_ITERATIONS_KEPT * new, FEW_BATCHES_KEPT * batch)):
        return None
    wanted = round(max(8 * new, 4 * FEW_BATCHES_KEPT * batch, 5000))
    return Finding(
        "small-window",
        Severity.WARNING,
        "The replay window is small: batches come from a few games that resemble each other.",
        (
            Figure("rows in the window", rows),
            Figure("new rows per iteration", new, "", "at most half of the window"),
            Figure("rows per batch", batch, "", f"at most 1/{FEW_BATCHES_KEPT} of the window"),
        ),
        (
            change(evidence.config, "replay.window_min", wanted, "keep more rows"),
            *(
                (change(evidence.config, "replay.window_max", wanted, "allow as many"),)
                if evidence.config.replay.window_max < wanted
                else ()
            ),
        ),
    )


def stale_data(evidence: Evidence) -> Finding | None:
    """The window still holds the first games of the run."""
    made = evidence.column("window.rows_made")[-1]
    kept = evidence.mean("window.rows") / made if made > 0 else nan
    is_long = len(evidence.iterations) >= STALE_ITERATIONS and evidence.updates >= STALE_UPDATES
    if not (is_long and kept > KEPT_SHARE):
        return None
    config, growth = evidence.config, ReplayConfig.window_growth
    wanted = max(1, round(made / 4))
    fewer = (change(config, "replay.window_min", wanted, "drop the games of weak networks"),)
    slower = (change(config, "replay.window_growth", growth, "keep the newer rows"),)
    return Finding(
        "stale-data",
        Severity.WARNING,
        "The network still learns from its first games, which a much weaker network has played.",
        (
            Figure("mean age of a row", evidence.mean("window.mean_age"), "iterations"),
            Figure("rows ever made that are still used", kept, SHARE, "at most 90 %"),
        ),
        (
            *(fewer if config.replay.window_min > wanted else ()),
            *(slower if config.replay.window_growth > growth else ()),
        ),
    )


def stale_actors(evidence: Evidence) -> Finding | None:
    """Actors play with old weights."""
    staleness, config = evidence.mean("actors.staleness"), evidence.config
    if not staleness > MAX_STALENESS:
        return None
    lag = change(config, "run.max_lag", 1, "let fewer games wait for the learner")
    return Finding(
        "stale-actors",
        Severity.WARNING,
        "Actors play with old weights: games wait long before the network learns from them.",
        (Figure("age of their weights", staleness, "iterations", f"at most {MAX_STALENESS:g}"),),
        (lag,) if config.run.max_lag > 1 else (do("use fewer actors: rookery scale RUN --actors"),),
    )


def rows_per_new_row(evidence: Evidence) -> float:
    """Return how many rows were learned from for each new row."""
    new = new_rows_per_iteration(evidence) * len(evidence.column("seconds")[evidence.recent])
    return evidence.total("learning.rows") / new if new > 0 else nan


def new_rows_per_iteration(evidence: Evidence) -> float:
    """Return the mean number of rows that a recent iteration adds; NaN if that is not known."""
    made = np.append(0.0, evidence.column("window.rows_made"))
    first, end = int(evidence.recent.start), int(evidence.recent.stop)
    return float(made[end] - made[first]) / max(end - first, 1)


def _loss(evidence: Evidence, name: str) -> float:
    return evidence.mean(f"learning.losses.{name}", by="learning.updates")


def _high_rate_text(failures: int, *, is_worse: bool) -> str:
    if failures:
        return "Learning has failed: losses or gradients became infinite."
    if is_worse:
        return "The network is worse than one that knows nothing: learning diverges."
    return "Most gradients are clipped: the steps of learning are too large."
