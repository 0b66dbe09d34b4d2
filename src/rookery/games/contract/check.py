"""Check the rules of a game on random games: `rookery games check NAME`.

Each check returns a summary, raises CheckFailed with what was found and what to fix, or raises
CheckWarning if the rules look wrong but may be right.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from rookery.base import generator
from rookery.games.contract import positions
from rookery.games.contract.calls import EndlessLoop, check_calls
from rookery.games.contract.compilation import check_compiled
from rookery.games.contract.information import check_information
from rookery.games.contract.notation import check_notation
from rookery.games.contract.random_games import CheckFailed, CheckWarning, RandomGames
from rookery.games.contract.symmetries import check_symmetries
from rookery.games.contract.tables import check_tables
from rookery.games.game import Game

CHECKS: dict[str, Callable[[RandomGames], str]] = {
    "start": positions.check_start,
    "legality": positions.check_legality,
    "termination": positions.check_termination,
    "perspective": positions.check_perspective,
    "planes": positions.check_planes,
    "information": check_information,
    "symmetries": check_symmetries,
    "copies": positions.check_copies,
    "compiled": check_compiled,
    "repetitions": positions.check_repetitions,
    "notation": check_notation,
}


@dataclass(frozen=True)
class CheckResult:
    """The result of one check."""

    name: str
    passed: bool
    message: str
    """What was checked, or what is wrong and how to fix it."""
    is_warning: bool = False
    """The check passed, but someone who knows the game should read the message."""
    is_fatal: bool = False
    """The check failed, and no other check can run."""


def check_game(game: Game, *, games: int = 50, seed: int = 0) -> list[CheckResult]:
    """Run every check on `games` random games, or on fewer if the games are long.

    The tables come first, then whether every function returns and whether the game can be played.
    If not, the other checks are skipped.
    """
    played = RandomGames(game, lines=[], rng=generator(seed, "contract", games))
    results = [_run("tables", partial(check_tables, game))]
    results.append(_run("calls", partial(check_calls, played, games)))
    if results[-1].is_fatal:
        return results
    results.append(_run("playable", partial(played.play, games)))
    if results[-1].passed:
        results += [_run(name, partial(check, played)) for name, check in CHECKS.items()]
    return results


def _run(name: str, check: Callable[[], str]) -> CheckResult:
    try:
        return CheckResult(name, True, check())
    except CheckFailed as failure:
        return CheckResult(name, False, str(failure), is_fatal=isinstance(failure, EndlessLoop))
    except CheckWarning as warning:
        return CheckResult(name, True, str(warning), is_warning=True)
    except Exception as error:  # a user's rules may raise anything
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        return CheckResult(name, False, f"{type(error).__name__}: {' | '.join(lines[:4])}")
