"""Pairs of games under way: one player against several opponents, all games moved together."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor

import numpy as np
from numpy.typing import NDArray

from rookery.arena.book import Opening
from rookery.arena.lockstep import Past, advance
from rookery.arena.match import MatchGame, let_move
from rookery.arena.player import Player
from rookery.games import ONGOING, Game

NOBODY = -1
Pair = tuple[MatchGame, MatchGame]


class GamesInFlight:
    """Rooms for pairs; games 2n and 2n + 1 are pair n, and the player moves first in 2n."""

    def __init__(self, game: Game, player: Player, opponents: Sequence[Player], pairs: int) -> None:
        self._game, self._player, self._opponents = game, player, opponents
        self._states, self._past = game.new_states(2 * pairs), Past.none(game, 2 * pairs)
        self._openings: list[Opening] = [()] * pairs
        self._met = np.full(2 * pairs, NOBODY)
        self._turn = np.zeros(2 * pairs, np.bool_)
        self._results = np.full(2 * pairs, ONGOING, np.int8)
        self._faults: dict[int, str] = {}

    def free(self) -> list[int]:
        """The pairs where nobody plays."""
        return np.flatnonzero(self._met[::2] == NOBODY).tolist()

    def begin(self, pair: int, opening: Opening, opponent: int) -> None:
        """Two games against an opponent from the same opening."""
        games = np.array([2 * pair, 2 * pair + 1])
        self._states[games] = self._game.new_states(2)
        self._past.restart(games)
        for action in opening:
            advance(self._game, self._states, self._past, games, np.full(2, action, np.int32))
        self._openings[pair] = opening
        self._met[games], self._results[games] = opponent, ONGOING
        self._turn[games] = np.array([True, False]) == (len(opening) % 2 == 0)

    def move(self, beside: Executor) -> None:
        """One ply in every game that goes on; opponents reply `beside` the player."""
        is_on = (self._met != NOBODY) & (self._results == ONGOING)
        replies = beside.submit(self._reply, is_on & ~self._turn)
        self._let(self._player, is_on & self._turn, sign=1)
        replies.result()
        self._turn = ~self._turn

    def take_ended(self) -> Iterator[tuple[int, Pair]]:
        """The opponents of pairs that have both games ended, and these; they make room."""
        for pair in range(len(self._openings)):
            games = slice(2 * pair, 2 * pair + 2)
            opponent = int(self._met[2 * pair])
            if opponent != NOBODY and (self._results[games] != ONGOING).all():
                self._met[games] = NOBODY
                yield opponent, (self._ended(2 * pair), self._ended(2 * pair + 1))

    def _reply(self, waiting: NDArray[np.bool_]) -> None:
        for number, opponent in enumerate(self._opponents):
            self._let(opponent, waiting & (self._met == number), sign=-1)

    def _let(self, mover: Player, mask: NDArray[np.bool_], *, sign: int) -> None:
        games = np.flatnonzero(mask)
        if len(games):
            ends = let_move(self._game, mover, self._states, self._past, games, self._faults)
            self._results[games] = np.where(ends == ONGOING, ONGOING, sign * ends)

    def _ended(self, number: int) -> MatchGame:
        opening = self._openings[number // 2]
        moves = tuple(self._past.moves[number][len(opening) :])
        fault, result = self._faults.pop(number, ""), int(self._results[number])
        return MatchGame(opening, moves, number % 2 == 0, result, fault)
