"""A match of two players: pairs of games from the same opening, with colours swapped.

A match is divided into parts, which may be played by different processes in any order. The size
of a part depends on the number of games alone, so the games do not depend on the processes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rookery.arena.lockstep import Histories, advance, outcomes
from rookery.arena.openings import Opening, draw_openings
from rookery.arena.player import FORFEIT, Player, choose_moves, faults_of
from rookery.arena.rating.elo import EloDifference, elo_difference
from rookery.base import ConfigError, generator
from rookery.games import DRAW, LOSS, ONGOING, WIN, Action, Game, States

MAX_PARTS = 16


@dataclass(frozen=True)
class MatchGame:
    """One game of a match."""

    opening: Opening
    """The first moves, which both games of a pair share."""
    moves: tuple[Action, ...]
    """The moves of the players after the opening."""
    a_first: bool
    """Whether a has the side that moves first, opening included."""
    result: int
    """WIN, DRAW or LOSS for a."""
    fault: str = ""
    """Why a player forfeited the game; empty if the game was played to its end."""

    def to_plain(self) -> list[Any]:
        """Return the game as a list that JSON can hold."""
        return [list(self.opening), list(self.moves), self.a_first, self.result, self.fault]

    @classmethod
    def from_plain(cls, plain: Sequence[Any]) -> "MatchGame":
        """Return the game that `to_plain` wrote."""
        opening, moves, a_first, result, fault = plain
        return cls(tuple(opening), tuple(moves), a_first, result, fault)


@dataclass(frozen=True)
class MatchPlan:
    """The number of games and the openings of a match, independent of the players."""

    games: int
    seed: int
    """Random seed for the openings."""
    opening_plies: int
    """Length of random openings; ignored with `book`."""
    smallest_part: int = 16
    """Minimum number of pairs in a part; they are played in lockstep."""
    book: bool = False
    """Whether the openings come from the book of the game."""

    def __post_init__(self) -> None:
        if self.games < 2 or self.games % 2:
            raise ConfigError(
                f"a match is played in pairs: games must be even and not 0, got {self.games}"
            )

    @property
    def parts(self) -> int:
        """Number of parts."""
        return ceil(self.games // 2 / self._pairs_per_part)

    def openings(self, game: Game, part: int) -> list[Opening]:
        """Return the openings of a part, one per pair."""
        openings = draw_openings(
            game,
            self.games // 2,
            plies=self.opening_plies,
            seed=self.seed,
            from_book=self.book,
        )
        return openings[part * self._pairs_per_part :][: self._pairs_per_part]

    @property
    def _pairs_per_part(self) -> int:
        return max(self.smallest_part, ceil(self.games // 2 / MAX_PARTS))


@dataclass(frozen=True)
class WinDrawLoss:
    """Numbers of games won, drawn and lost."""

    wins: int
    draws: int
    losses: int

    @property
    def games(self) -> int:
        """Number of all games."""
        return self.wins + self.draws + self.losses


@dataclass(frozen=True)
class MatchReport:
    """The result of a match, from the point of view of a.

    Games 2n and 2n + 1 are a pair; a moves first in game 2n.
    """

    a: str
    b: str
    """Names of the players."""
    total: WinDrawLoss
    first: WinDrawLoss
    """Games in which a had the side that moves first."""
    second: WinDrawLoss
    distinct_games: int
    """Games with different moves, opening included. If they are far fewer than all games, the
    interval of `difference` is too narrow."""
    difference: EloDifference
    games: tuple[MatchGame, ...]

    @property
    def faults(self) -> list[str]:
        """Reasons of the forfeited games, one line for each."""
        return [game.fault for game in self.games if game.fault]


def play_match(
    game: Game, a: Player, b: Player, *, games: int, seed: int, opening_plies: int
) -> MatchReport:
    """Play all parts of a match in this process."""
    plan = MatchPlan(games, seed, opening_plies)
    parts = (play_part(game, a, b, plan.openings(game, part)) for part in range(plan.parts))
    return report_match(a.name, b.name, played=[each for part in parts for each in part])


def play_part(game: Game, a: Player, b: Player, openings: Sequence[Opening]) -> list[MatchGame]:
    """Play two games from each opening, all in lockstep; the openings have the same length."""
    lines = [opening for opening in openings for _ in range(2)]
    plies, games = len(lines[0]), np.arange(len(lines))
    a_first = games % 2 == 0
    states, histories = game.new_states(len(lines)), Histories.empty(game, len(lines))
    for ply in range(plies):
        actions = np.array([line[ply] for line in lines], np.int32)
        advance(game, states, histories, games, actions)
    a_moves_next = a_first == (plies % 2 == 0)
    results, faults = _play_out(game, (a, b), states, histories, a_moves_next=a_moves_next)
    return [
        MatchGame(line, tuple(moves[plies:]), bool(first), int(result), faults.get(g, ""))
        for g, (line, moves, first, result) in enumerate(
            zip(lines, histories.moves, a_first, results, strict=True)
        )
    ]


def part_seed(seed: int, part: int, *, side: int) -> int:
    """Return the seed of a player that is created for one part; `side` is 0 for a, 1 for b."""
    return int(generator(seed, "arena/part", part, side).integers(2**62))


def _play_out(
    game: Game,
    players: tuple[Player, Player],
    states: States,
    histories: Histories,
    *,
    a_moves_next: NDArray[np.bool_],
) -> tuple[NDArray[np.int8], dict[int, str]]:
    """Play the games to their ends. Return the results [G] for a, and the faults by game."""
    results = np.full(len(states), ONGOING, np.int8)
    faults: dict[int, str] = {}
    a_moves = a_moves_next.copy()
    while (results == ONGOING).any():
        is_ongoing = results == ONGOING
        for player, sign, moves in ((players[0], 1, a_moves), (players[1], -1, ~a_moves)):
            games = np.flatnonzero(is_ongoing & moves)
            if len(games):
                ends = play_ply(game, player, states, histories, games, faults)
                results[games] = np.where(ends == ONGOING, ONGOING, sign * ends)
        a_moves = ~a_moves
    return results, faults


def play_ply(
    game: Game,
    player: Player,
    states: States,
    histories: Histories,
    games: NDArray[np.intp],
    faults: dict[int, str],
) -> NDArray[np.int8]:
    """Play one move of `player` in each of `games`.

    Return ONGOING or the result of each game for the player. A forfeited game is lost, its state
    does not change, and the reason is added to `faults`.
    """
    actions = choose_moves(player, states[games], histories.select(games), game=game)
    has_moved = actions != FORFEIT
    faults.update(zip(games[~has_moved].tolist(), faults_of(player), strict=False))
    advance(game, states, histories, games[has_moved], actions[has_moved])
    ends = outcomes(game, states[games])
    return np.where(has_moved, np.where(ends == ONGOING, ONGOING, -ends), LOSS).astype(np.int8)


def report_match(a: str, b: str, *, played: Sequence[MatchGame]) -> MatchReport:
    """Return the report on the games of a match between players with these names."""
    return MatchReport(
        a=a,
        b=b,
        total=count_results(played),
        first=count_results([game for game in played if game.a_first]),
        second=count_results([game for game in played if not game.a_first]),
        distinct_games=count_distinct(played),
        difference=elo_difference(pair_scores(played)),
        games=tuple(played),
    )


def count_results(played: Sequence[MatchGame]) -> WinDrawLoss:
    """Return the numbers of games that a won, drew and lost."""
    results = [game.result for game in played]
    return WinDrawLoss(results.count(WIN), results.count(DRAW), results.count(LOSS))


def count_distinct(played: Sequence[MatchGame]) -> int:
    """Return the number of games with different moves, opening included."""
    return len({game.opening + game.moves for game in played})


def pair_scores(played: Sequence[MatchGame]) -> list[float]:
    """Return the score of a in each pair, from 0 to 1; games 2n and 2n + 1 are a pair."""
    pairs = zip(played[::2], played[1::2], strict=True)
    return [(one.result + other.result + 2) / 4 for one, other in pairs]
