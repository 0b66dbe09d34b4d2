"""The contract every game keeps, checked on random games: `rookery games check NAME`.

Each check tests one promise (`promises.py`) and says, where it is broken, what was found and
what to mend. A check that can only suspect says so and leaves the verdict to people.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from rookery.base import generator
from rookery.games.contract.promises import PROMISES, check_tables
from rookery.games.contract.trial import Broken, Doubt, Trial, random_line
from rookery.games.game import Game

MOST_MOVES = 1_500
"""No further game is begun after so many moves."""


@dataclass(frozen=True)
class Finding:
    """What one check of the contract found."""

    name: str
    ok: bool
    detail: str
    """What was checked, or what is wrong and how to mend it."""
    doubtful: bool = False
    """Not wrong for certain: somebody who knows the game should look."""


def check_game(game: Game, *, games: int = 50, seed: int = 0) -> list[Finding]:
    """Check every promise of the contract on `games` random games, on fewer where they are long.

    Tables first, then whether the game can be played at all; without that nothing else is checked.
    """
    stream = generator(seed, "contract", games)
    trial = Trial(game, lines=[], stream=stream)
    found = [_check("tables", partial(check_tables, game))]
    found.append(_check("playable", partial(_play_games, trial, games)))
    if found[-1].ok:
        found += [_check(name, partial(promise, trial)) for name, promise in PROMISES.items()]
    return found


def _play_games(trial: Trial, games: int) -> str:
    moves = 0
    while len(trial.lines) < games and moves < MOST_MOVES:
        trial.lines.append(random_line(trial.game, trial.stream))
        moves += len(trial.lines[-1])
    return f"{len(trial.lines)} random games, {moves} moves"


def _check(name: str, promise: Callable[[], str]) -> Finding:
    try:
        return Finding(name, True, promise())
    except Broken as broken:
        return Finding(name, False, str(broken))
    except Doubt as doubt:
        return Finding(name, True, str(doubt), doubtful=True)
    except Exception as error:  # somebody else's rules may raise anything: that is the finding
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        return Finding(name, False, f"{type(error).__name__}: {' | '.join(lines[:4])}")
