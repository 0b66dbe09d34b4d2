"""Check the rules of a game on random games: `rookery games check NAME`.

Each check returns a summary, raises CheckFailed with what was found and what to fix, or raises
CheckWarning if the rules look wrong but may be right.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from rookery.base import generator, interpreted
from rookery.games.contract import positions
from rookery.games.contract.calls import EndlessLoop, check_calls
from rookery.games.contract.compilation import check_compiled, load_interpreted
from rookery.games.contract.information import check_information
from rookery.games.contract.notation import check_notation
from rookery.games.contract.random_games import CheckFailed, CheckWarning, RandomGames
from rookery.games.contract.symmetries import check_symmetries
from rookery.games.contract.tables import check_tables
from rookery.games.game import TEXT_FUNCTIONS, Game

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
QUICK_GAMES = 3
QUICK_SECONDS = 1.0


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
    return list(_results(game, played, games))


def quick_check(game: Game) -> list[CheckResult]:
    """Run the checks on a few games of a user's uncompiled rules; return the failures.

    After about a second no further check is started.
    """
    if not game.source:
        return []
    end, failures = time.monotonic() + QUICK_SECONDS, list[CheckResult]()
    rules = load_interpreted(game)
    texts = {name: getattr(rules, name) for name in TEXT_FUNCTIONS}
    notation = {name: getattr(rules, name) for name in game.notation}
    plain = replace(game, rules=rules, notation=notation, **texts)
    played = RandomGames(plain, lines=[], rng=generator(0, "contract", QUICK_GAMES))
    with interpreted(), np.errstate(over="ignore"):  # bitboards overflow on purpose
        for result in _results(game, played, QUICK_GAMES):
            failures += [] if result.passed else [result]
            if time.monotonic() > end:
                break
    return failures


def _results(game: Game, played: RandomGames, games: int) -> Iterator[CheckResult]:
    yield _run("tables", partial(check_tables, game))
    yield (calls := _run("calls", partial(check_calls, game, games)))
    if calls.is_fatal:
        return
    yield (playable := _run("playable", partial(played.play, games)))
    if playable.passed:
        for name, check in CHECKS.items():
            yield _run(name, partial(check, played))


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
