"""Two players against each other: pairs of games from random or book openings, colours swapped.

A match is cut into parts, whose size follows from the number of games alone: whoever plays a part,
and beside how many others, plays the same games.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rookery.arena.book import Opening, book_openings
from rookery.arena.lockstep import Past, advance, legal_mask, outcomes, pick, play_each
from rookery.arena.player import FORFEIT, Player, ask, faults_of
from rookery.arena.rating.elo import EloDifference, compare
from rookery.base import ConfigError, generator
from rookery.games import DRAW, LOSS, ONGOING, WIN, Action, Game, States

DRAWN_AT_ONCE = 256
BARREN_ROUNDS = 3
"""Openings are drawn so many at once, until so many rounds bring no new one."""
MOST_PARTS = 16


@dataclass(frozen=True)
class MatchGame:
    """One game of a match."""

    opening: Opening
    """The moves both games of the pair start with, drawn at random or from a book."""
    moves: tuple[Action, ...]
    """The moves the players made after them."""
    a_first: bool
    """Whether a has the side that moves first in the game, opening included."""
    result: int
    """WIN, DRAW or LOSS for a."""
    fault: str = ""
    """Why the game ended before its end: what a player did that forfeited it."""

    def to_plain(self) -> list[Any]:
        """The game as JSON takes it."""
        return [list(self.opening), list(self.moves), self.a_first, self.result, self.fault]

    @classmethod
    def from_plain(cls, plain: Sequence[Any]) -> "MatchGame":
        """The game that `to_plain` wrote."""
        opening, moves, a_first, result, fault = plain
        return cls(tuple(opening), tuple(moves), a_first, result, fault)


@dataclass(frozen=True)
class MatchPlan:
    """What is played in a match, whoever the players are."""

    games: int
    seed: int
    """The openings follow from it."""
    opening_plies: int
    smallest_part: int = 16
    """Pairs that are played in lockstep, at least."""
    book: bool = False
    """Whether openings come from the game's book; `opening_plies` means nothing then."""

    def __post_init__(self) -> None:
        if self.games < 2 or self.games % 2:
            raise ConfigError(
                f"a match is played in pairs: games must be even and not 0, got {self.games}"
            )

    @property
    def parts(self) -> int:
        """How many parts the match has."""
        return ceil(self.games // 2 / self._pairs_in_part)

    def openings(self, game: Game, part: int) -> list[Opening]:
        """The openings of a part, one a pair."""
        return self._all_openings(game)[part * self._pairs_in_part :][: self._pairs_in_part]

    def _all_openings(self, game: Game) -> list[Opening]:
        count = self.games // 2
        if self.book:
            return book_openings(game, count, seed=self.seed)
        return draw_openings(game, count, plies=self.opening_plies, seed=self.seed)

    @property
    def _pairs_in_part(self) -> int:
        return max(self.smallest_part, ceil(self.games // 2 / MOST_PARTS))


@dataclass(frozen=True)
class Tally:
    """Games counted by their result for a."""

    wins: int
    draws: int
    losses: int

    @property
    def games(self) -> int:
        """How many there are."""
        return self.wins + self.draws + self.losses


@dataclass(frozen=True)
class MatchReport:
    """How a did against b. Games 2n and 2n + 1 are a pair, a moving first in 2n."""

    a: str
    b: str
    """The players' names."""
    total: Tally
    first: Tally
    """The games in which a had the side that moves first."""
    second: Tally
    distinct_games: int
    """Games that differ in their moves, opening included; far fewer than played means that
    the match says less than its interval claims."""
    difference: EloDifference
    games: tuple[MatchGame, ...]

    @property
    def faults(self) -> list[str]:
        """Why games were forfeited, a line each."""
        return [game.fault for game in self.games if game.fault]


def play_match(
    game: Game, a: Player, b: Player, *, games: int, seed: int, opening_plies: int
) -> MatchReport:
    """Play `games` / 2 pairs, part after part."""
    plan = MatchPlan(games, seed, opening_plies)
    parts = (play_part(game, a, b, plan.openings(game, part)) for part in range(plan.parts))
    return report_match(a.name, b.name, played=[each for part in parts for each in part])


def play_part(game: Game, a: Player, b: Player, openings: Sequence[Opening]) -> list[MatchGame]:
    """Two games from each opening, in lockstep: a player is asked for all its moves at once.

    The openings are equally long.
    """
    lines = [opening for opening in openings for _ in range(2)]
    plies, everyone = len(lines[0]), np.arange(len(lines))
    a_first = everyone % 2 == 0
    states, past = game.new_states(len(lines)), Past.none(game, len(lines))
    for ply in range(plies):
        actions = np.array([line[ply] for line in lines], np.int32)
        advance(game, states, past, everyone, actions)
    a_moves_next = a_first == (plies % 2 == 0)
    results, faults = _play_out(game, (a, b), states, past, a_moves_next=a_moves_next)
    return [
        MatchGame(line, tuple(made[plies:]), bool(first), int(result), faults.get(number, ""))
        for number, (line, made, first, result) in enumerate(
            zip(lines, past.moves, a_first, results, strict=True)
        )
    ]


def part_seed(seed: int, part: int, *, side: int) -> int:
    """The seed of a player that is made anew for a part; `side` is 0 for a, 1 for b."""
    return int(generator(seed, "arena/part", part, side).integers(2**62))


def draw_openings(game: Game, count: int, *, plies: int, seed: int) -> list[Opening]:
    """`count` random lines of `plies` moves that do not end the game.

    They lead to different positions as long as new ones are found, then they repeat in turn.
    """
    stream = generator(seed, "arena/openings", plies)
    found: dict[bytes, Opening] = {}
    barren = 0
    while len(found) < count and barren < BARREN_ROUNDS:
        before = len(found)
        for state, line in zip(*_random_lines(game, plies, stream=stream), strict=True):
            found.setdefault(state.tobytes(), tuple(line))
        barren = barren + 1 if len(found) == before else 0
    if not found:
        raise ConfigError(
            f"{BARREN_ROUNDS * DRAWN_AT_ONCE} random openings of {plies} plies all ended the game"
            f" of {game.name}; use shorter ones"
        )
    return list(islice(cycle(found.values()), count))


def _random_lines(
    game: Game, plies: int, *, stream: np.random.Generator
) -> tuple[States, list[list[Action]]]:
    """Positions after random play and the moves that led there; games that ended are dropped."""
    states = game.new_states(DRAWN_AT_ONCE)
    lines = np.zeros((DRAWN_AT_ONCE, plies), np.int32)
    for ply in range(plies):
        actions = pick(legal_mask(game, states), stream)
        lines[:, ply] = actions
        play_each(game, states, actions)
        going = outcomes(game, states) == ONGOING
        states, lines = states[going], lines[going]
    return states, lines.tolist()


def _play_out(
    game: Game,
    players: tuple[Player, Player],
    states: States,
    past: Past,
    *,
    a_moves_next: NDArray[np.bool_],
) -> tuple[NDArray[np.int8], dict[int, str]]:
    """Play the games to their ends: results for the first of `players`, faults by game."""
    results = np.full(len(states), ONGOING, np.int8)
    faults: dict[int, str] = {}
    turn = a_moves_next.copy()
    while (results == ONGOING).any():
        going = results == ONGOING
        for player, sign, theirs in ((players[0], 1, turn), (players[1], -1, ~turn)):
            games = np.flatnonzero(going & theirs)
            if len(games):
                ends = let_move(game, player, states, past, games, faults)
                results[games] = np.where(ends == ONGOING, ONGOING, sign * ends)
        turn = ~turn
    return results, faults


def let_move(
    game: Game,
    player: Player,
    states: States,
    past: Past,
    games: NDArray[np.intp],
    faults: dict[int, str],
) -> NDArray[np.int8]:
    """Have the player move in some of the games: ONGOING or what each ended with, for it.

    A game that it forfeits is lost and stays as it is; `faults` says why.
    """
    actions = ask(player, states[games], past.of(games), game=game)
    has_moved = actions != FORFEIT
    faults.update(zip(games[~has_moved].tolist(), faults_of(player), strict=False))
    advance(game, states, past, games[has_moved], actions[has_moved])
    ends = outcomes(game, states[games])
    return np.where(has_moved, np.where(ends == ONGOING, ONGOING, -ends), LOSS).astype(np.int8)


def report_match(a: str, b: str, *, played: Sequence[MatchGame]) -> MatchReport:
    """What the games of a match say of players of these names."""
    points = [(game.result + 1) / 2 for game in played]
    pairs = [(one + other) / 2 for one, other in zip(points[::2], points[1::2], strict=True)]
    return MatchReport(
        a=a,
        b=b,
        total=tally(played),
        first=tally([game for game in played if game.a_first]),
        second=tally([game for game in played if not game.a_first]),
        distinct_games=len({game.opening + game.moves for game in played}),
        difference=compare(pairs),
        games=tuple(played),
    )


def tally(played: Sequence[MatchGame]) -> Tally:
    """The games counted."""
    results = [game.result for game in played]
    return Tally(results.count(WIN), results.count(DRAW), results.count(LOSS))
