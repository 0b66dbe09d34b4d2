"""Diagnoses of policies and of the search that makes them."""

from rookery.training.doctor.advising import change, do, raise_to
from rookery.training.doctor.evidence import MANY_UPDATES, Evidence
from rookery.training.doctor.finding import SHARE, Advice, Figure, Finding, Severity

LOW_ENTROPY = 0.06
"""Entropy of the search's policies, relative to that of equal probabilities."""
FLAT_ENTROPY = 0.97
"""Of its first value, at which it counts as not falling, if it is not low already."""
STILL_HIGH = 0.6
FEW_SIMULATIONS = 8
RECOMMENDED_SIMULATIONS = 32
MIN_GAIN = 10.0
"""Elo of search over the network alone."""
MIN_DECISIVE = 0.25
"""Share of decisive pairs without which the game is too easy to tell the two apart."""


def low_entropy(evidence: Evidence) -> Finding | None:
    """The search's policies put everything on one move."""
    relative = _relative_entropy(evidence, evidence.recent)
    if not relative < LOW_ENTROPY:
        return None
    return Finding(
        "low-entropy",
        Severity.WARNING,
        "The search's policies put nearly all weight on one move: self-play explores little.",
        (
            Figure("entropy of policies", evidence.mean("window.policy_entropy"), "nats"),
            Figure("relative to equal probabilities", relative, SHARE, "at least 6 %"),
        ),
        _explore_more(evidence),
    )


def flat_entropy(evidence: Evidence) -> Finding | None:
    """The search's policies stay as undecided as those of the untrained network."""
    first, last = (_relative_entropy(evidence, part) for part in (evidence.first, evidence.recent))
    if evidence.began_trained or evidence.updates < MANY_UPDATES:
        return None
    if not (last > STILL_HIGH and last > FLAT_ENTROPY * first):
        return None
    return Finding(
        "flat-entropy",
        Severity.WARNING,
        "The search's policies are as undecided as at the beginning: it finds no better moves.",
        (
            Figure("entropy relative to equal probabilities, now", last, SHARE),
            Figure("in the first iterations", first, SHARE, "falls"),
        ),
        (
            *raise_to(evidence.config, "search.c_scale", 1.0, "let values count more in policies"),
            *_more_simulations(evidence),
            do("check that the losses fall; if not, see learning.learning_rate"),
        ),
    )


def few_simulations(evidence: Evidence) -> Finding | None:
    """The search has too few simulations to improve on the network."""
    found = simulations_per_move(evidence)
    if not found < FEW_SIMULATIONS:
        return None
    return Finding(
        "few-simulations",
        Severity.PROBLEM if found < 2 else Severity.WARNING,
        "The search has too few simulations per move to find better moves than the network.",
        (
            Figure("simulations per move", found, "", f"at least {FEW_SIMULATIONS}"),
            Figure("policy target above the network's policy (KL)", _kl(evidence), "nats"),
        ),
        _more_simulations(evidence),
    )


def search_without_gain(evidence: Evidence) -> Finding | None:
    """Search plays no better than the network alone."""
    found = evidence.measured.search
    if found is None or found.decisive < MIN_DECISIVE or found.difference.elo > MIN_GAIN:
        return None
    elo = found.difference
    return Finding(
        "search-without-gain",
        Severity.PROBLEM if elo.high < MIN_GAIN else Severity.WARNING,
        "With search the network plays no better than without: its values mislead the search.",
        (
            Figure("Elo of search over the network alone", elo.elo, "", f"above +{MIN_GAIN:g}"),
            Figure("lower end of the 95 % interval", elo.low),
            Figure("upper end of the 95 % interval", elo.high),
            Figure("simulations per move", found.simulations),
            Figure("games", 2 * found.pairs),
        ),
        (
            *_more_simulations(evidence),
            *raise_to(
                evidence.config, "learning.value_weight", 1.0, "let the value head learn more"
            ),
        ),
    )


def simulations_per_move(evidence: Evidence) -> float:
    """Return the simulations per move of the recent iterations; NaN if nothing was played."""
    positions = evidence.total("selfplay.positions")
    return evidence.total("selfplay.simulations") / positions if positions else float("nan")


def _relative_entropy(evidence: Evidence, part: slice) -> float:
    entropy, uniform = (
        evidence.mean(f"window.{name}", part) for name in ("policy_entropy", "uniform_entropy")
    )
    return entropy / uniform if uniform else float("nan")


def _kl(evidence: Evidence) -> float:
    return evidence.mean("learning.losses.policy_kl", by="learning.updates")


def _more_simulations(evidence: Evidence) -> tuple[Advice, ...]:
    found = simulations_per_move(evidence)
    if not found < RECOMMENDED_SIMULATIONS:
        return ()
    wanted, why = RECOMMENDED_SIMULATIONS, "search longer for every move"
    return (change(evidence.config, "selfplay.simulations", wanted, why),)


def _explore_more(evidence: Evidence) -> tuple[Advice, ...]:
    config = evidence.config
    lower: tuple[Advice, ...] = ()
    if config.search.method == "gumbel" and config.search.c_scale > 0.5:
        lower = (change(config, "search.c_scale", 0.5, "let values count less in policies"),)
    noise: tuple[Advice, ...] = ()
    if config.search.method == "puct":
        noise = raise_to(config, "search.noise_fraction", 0.25, "add noise at the root")
    return (
        *lower,
        *noise,
        *raise_to(config, "selfplay.opening_share", 0.8, "start more games with random moves"),
    )
