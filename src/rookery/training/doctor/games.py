"""Diagnoses of the games of self-play."""

from math import log, sqrt

from rookery.training.doctor.advising import change, raise_to
from rookery.training.doctor.evidence import MANY_UPDATES, Evidence
from rookery.training.doctor.finding import SHARE, Advice, Figure, Finding, Severity

MIN_GAMES = 50
MANY_DUPLICATES, MOST_DUPLICATES = 0.3, 0.6
"""Shares of duplicate games; healthy runs of Tic-Tac-Toe, the smallest game, have up to 0.19."""
LINES_PER_GAME = 10
"""Lines of play per game of an iteration; with fewer, games repeat by chance."""
ONE_RESULT = 0.98
"""Share of games with the same result."""
RESIGN_ERRORS = 0.05
"""Share of wrong resignations that is tolerated, as in the papers of AlphaGo Zero."""
MIN_CHECKS = 20


def duplicate_games(evidence: Evidence) -> Finding | None:
    """Many games of an iteration are the same, move for move."""
    games = evidence.total("selfplay.games")
    share = evidence.mean("selfplay.duplicate_games", by="selfplay.games")
    if games < MIN_GAMES or not share > MANY_DUPLICATES:
        return None
    why = (
        Figure("games that equal another one", share, SHARE, "at most 30 %"),
        Figure("games looked at", games),
    )
    if _is_tiny(evidence):
        text = "The game has so few lines of play that many games of self-play are the same."
        return Finding("duplicate-games", Severity.NOTE, text, why)
    return Finding(
        "duplicate-games",
        Severity.PROBLEM if share > MOST_DUPLICATES else Severity.WARNING,
        "Many games of self-play are the same, move for move: the run learns little from them.",
        why,
        _more_variety(evidence),
    )


def one_result(evidence: Evidence) -> Finding | None:
    """Nearly all games end the same way."""
    games = evidence.total("selfplay.games")
    first = evidence.mean("selfplay.first_wins", by="selfplay.games")
    draws = evidence.mean("selfplay.draws", by="selfplay.games")
    shares = {
        "won by the first player": first,
        "drawn": draws,
        "won by the second player": 1 - first - draws,
    }
    label, share = max(shares.items(), key=lambda item: item[1])
    if games < MIN_GAMES or not share >= ONE_RESULT:
        return None
    length = evidence.mean("selfplay.mean_length", by="selfplay.games")
    return Finding(
        "one-result",
        Severity.NOTE if share == draws and evidence.updates < MANY_UPDATES else Severity.WARNING,
        f"Nearly all games are {label}: the value head has nothing to tell apart.",
        (
            Figure(f"games {label}", share, SHARE, "below 98 %"),
            Figure("mean length of a game", length, "plies"),
            Figure("games looked at", games),
        ),
        (*_more_variety(evidence), *_longer_games(evidence, draws=draws, length=length)),
    )


def resignation_errors(evidence: Evidence) -> Finding | None:
    """Players resign games that they would not have lost."""
    checks = evidence.total("selfplay.resign_checks")
    errors = evidence.total("selfplay.resign_errors")
    if checks < MIN_CHECKS or not 0 <= errors <= checks:
        return None
    if _lower_bound(errors, checks) <= RESIGN_ERRORS:
        return None
    present = evidence.config.selfplay.resign
    higher = round(1 - (1 - present) / 2, 3) if present < 0.99 else 0.0
    return Finding(
        "resignation-errors",
        Severity.PROBLEM if errors > 2 * RESIGN_ERRORS * checks else Severity.WARNING,
        "Players resign games that they would not have lost, so that results are wrong.",
        (
            Figure("wrong resignations among those checked", errors / checks, SHARE, "at most 5 %"),
            Figure("games checked", checks),
        ),
        (
            change(
                evidence.config,
                "selfplay.resign",
                higher,
                "resign only when the search is surer; 0 = never",
            ),
        ),
    )


def _is_tiny(evidence: Evidence) -> bool:
    """Return whether the game has about as few lines of play as an iteration has games."""
    plies = evidence.mean("selfplay.mean_length", by="selfplay.games")
    lines = evidence.mean("window.uniform_entropy") * plies  # the logarithm of their number
    return lines < log(LINES_PER_GAME * max(evidence.mean("selfplay.games"), 1))


def _more_variety(evidence: Evidence) -> tuple[Advice, ...]:
    config, length = evidence.config, evidence.mean("selfplay.mean_length", by="selfplay.games")
    plies = max(4, round(length / 2)) if length == length else 6
    return (
        *raise_to(
            config, "selfplay.opening_share", 0.8, "start more games with random opening moves"
        ),
        *raise_to(config, "selfplay.opening_plies", plies, "make these openings longer"),
        *raise_to(
            config, "selfplay.temperature_plies", plies, "draw more moves from the search's policy"
        ),
    )


def _longer_games(evidence: Evidence, *, draws: float, length: float) -> tuple[Advice, ...]:
    """Advise to let games go on if their draws come from the limit of plies."""
    limit = evidence.config.selfplay.max_plies
    if not limit or draws < ONE_RESULT or length < 0.9 * limit:
        return ()
    text = "let games go on: the limit ends them as draws"
    return (change(evidence.config, "selfplay.max_plies", 2 * limit, text),)


def _lower_bound(errors: float, checks: float) -> float:
    """Return the lower end of Wilson's 95 % interval of a share."""
    z, share = 1.96, errors / checks
    middle = share + z * z / (2 * checks)
    return (middle - z * sqrt(share * (1 - share) / checks + z * z / (4 * checks * checks))) / (
        1 + z * z / checks
    )
