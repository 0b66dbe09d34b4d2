"""Diagnoses of speed: who waits for whom, and where the time goes."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from rookery.training.doctor.advising import change, do, raise_to
from rookery.training.doctor.evidence import Evidence
from rookery.training.doctor.finding import SHARE, Advice, Figure, Finding, Severity

WAITED = 0.6
"""Share of the time that the learner, or the actors, may wait for the other."""
COMMUNICATION = 0.5
"""Share of the time that trainers may spend on exchanging gradients or weights."""
BUSY = 0.5
"""Share of the time in which a GPU should compute."""
SMALL_BATCH = 1024
"""Rows per call of the network from which a GPU is well used."""
MEASURING = 0.25
"""Share of the time that measurements of strength may take."""
OTHER = 0.4
"""Share of the time that may be neither self-play nor learning nor measuring."""


def starved_learner(evidence: Evidence) -> Finding | None:
    """The learner waits for games."""
    waited = evidence.mean("actors.learner_waited")
    if evidence.config.run.mode == "phased" or not waited > WAITED:
        return None
    return Finding(
        "starved-learner",
        Severity.WARNING,
        "The learner waits for games most of the time: self-play is too slow for it.",
        (
            Figure("time that the learner waited", waited, SHARE, f"at most {WAITED:.0%}"),
            Figure("actors", _num_actors(evidence)),
        ),
        (
            change(evidence.config, "run.actors", "auto", "play with as many actors as it needs"),
            do("or use the idle time: raise learning.reuse or net.width"),
        ),
    )


def starved_actors(evidence: Evidence) -> Finding | None:
    """Games wait for the learner, and actors pause."""
    waited = evidence.mean("actors.games_waited")
    if evidence.config.run.mode == "phased" or not waited > WAITED:
        return None
    reuse = evidence.config.learning.reuse
    return Finding(
        "starved-actors",
        Severity.WARNING,
        "Actors pause most of the time, because the learner is too slow for their games.",
        (
            Figure("time that games waited", waited, SHARE, f"at most {WAITED:.0%}"),
            Figure("actors", _num_actors(evidence)),
            Figure("rows learned from per second", evidence.mean("learning.rows_per_second")),
        ),
        (
            change(evidence.config, "run.actors", "auto", "play with as many actors as it needs"),
            change(evidence.config, "learning.reuse", max(reuse / 2, 1), "learn less per row"),
            do("or learn faster: larger learning.batch_size, more trainers (learning.method)"),
        ),
    )


def waiting_trainers(evidence: Evidence) -> Finding | None:
    """Trainers spend their time on communication."""
    share = evidence.mean("learning.total.communication")
    if not share > COMMUNICATION:
        return None
    return Finding(
        "waiting-trainers",
        Severity.WARNING,
        "Trainers spend most of their time on exchanging gradients and on waiting for each other.",
        (Figure("time spent on communication", share, SHARE, f"at most {COMMUNICATION:.0%}"),),
        (
            change(
                evidence.config,
                "learning.batch_size",
                2 * evidence.config.learning.batch_size,
                "exchange less often",
            ),
            do("or learn with fewer trainers: learning.workers, or learning.method=single"),
        ),
    )


def idle_device(evidence: Evidence) -> Finding | None:
    """The GPU does not compute for much of the time."""
    busy = evidence.mean("device.busy")
    if not busy < BUSY:
        return None
    batch = evidence.mean("selfplay.mean_batch")
    return Finding(
        "idle-device",
        Severity.WARNING,
        "The GPU is idle for much of the time.",
        (
            Figure("time in which the GPU computed", busy, SHARE, f"at least {BUSY:.0%}"),
            Figure("rows per call of the network", batch),
            *time_figures(evidence),
        ),
        (*_larger_batches(evidence, batch), *_fewer_measurements(evidence))
        or (do("train a larger network: net.width, net.depth"),),
    )


def lost_time(evidence: Evidence) -> Finding | None:
    """Much of the time goes into neither self-play nor learning."""
    shares = time_shares(evidence)
    measuring, other = shares.get("measuring strength", 0.0), shares.get("anything else", 0.0)
    if not (measuring > MEASURING or other > OTHER):
        return None
    advice = _fewer_measurements(evidence) if measuring > MEASURING else ()
    if other > OTHER:
        moves = evidence.config.run.moves
        advice = (*advice, change(evidence.config, "run.moves", 2 * moves, "longer iterations"))
    return Finding(
        "lost-time",
        Severity.WARNING,
        "Much of the time goes into neither self-play nor learning.",
        time_figures(evidence),
        advice,
    )


def time_figures(evidence: Evidence) -> tuple[Figure, ...]:
    """Return where the time goes."""
    shares = time_shares(evidence).items()
    return tuple(Figure(f"time spent on {name}", share, SHARE) for name, share in shares)


def time_shares(evidence: Evidence) -> dict[str, float]:
    """Return the shares of the run's time, without iterations that compile.

    Where parts overlap, as with actors and on GPUs, there is no rest that is known. On a CPU, the
    longer of two that overlap counts.
    """
    durations = evidence.durations
    is_known = np.isfinite(durations)
    total = float(durations[is_known].sum())
    if not total:
        return {}
    seconds = dict(_seconds(evidence, is_known))
    shares = {name: part / total for name, part in seconds.items()}
    does_overlap = "actors" in evidence.iterations[-1] or evidence.iterations[-1].get("device")
    if not does_overlap:
        played, learned, measured = shares.values()
        taken = played + learned + measured
        if taken > 1:
            taken -= min(played, learned)
        shares["anything else"] = max(0.0, 1 - taken)
    return shares


def _seconds(evidence: Evidence, is_known: NDArray[np.bool_]) -> Iterator[tuple[str, float]]:
    """Yield the parts of the time and the seconds that they took in some iterations."""
    yield "self-play", float(np.nansum(evidence.column("selfplay.seconds")[is_known]))
    rows, rate = (evidence.column(f"learning.{name}") for name in ("rows", "rows_per_second"))
    with np.errstate(divide="ignore", invalid="ignore"):
        learning = rows / rate
    yield "learning", float(np.nansum(np.where(np.isfinite(learning), learning, 0)[is_known]))
    yield "measuring strength", float(evidence.measuring[is_known].sum())


def _num_actors(evidence: Evidence) -> float:
    actors = evidence.iterations[-1].get("actors")
    workers = actors.get("workers") if isinstance(actors, dict) else None
    return float(len(workers)) if isinstance(workers, list) else 0.0


def _larger_batches(evidence: Evidence, batch: float) -> tuple[Advice, ...]:
    if not batch < SMALL_BATCH:
        return ()
    games = 4 * evidence.config.selfplay.games
    return (change(evidence.config, "selfplay.games", games, "play more games at once"),)


def _fewer_measurements(evidence: Evidence) -> tuple[Advice, ...]:
    shares, every = time_shares(evidence), evidence.config.run.strength_every
    if not every or shares.get("measuring strength", 0.0) <= MEASURING:
        return ()
    return raise_to(evidence.config, "run.strength_every", 4 * every, "measure less often")
