"""Pairs of games in flight: one player against several opponents, all games in lockstep."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor

import numpy as np
from numpy.typing import NDArray

from rookery.arena.lockstep import Histories, advance
from rookery.arena.match import MatchGame, play_ply
from rookery.arena.openings import Opening
from rookery.arena.player import Player
from rookery.games import ONGOING, Game

NO_OPPONENT = -1
Pair = tuple[MatchGame, MatchGame]


class GamesInFlight:
    """Slots for pairs of games.

    Slot n holds games 2n and 2n + 1; the player moves first in game 2n.
    """

    def __init__(self, game: Game, player: Player, opponents: Sequence[Player], slots: int) -> None:
        self._game, self._player, self._opponents = game, player, opponents
        self._states, self._histories = game.new_states(2 * slots), Histories.empty(game, 2 * slots)
        self._openings: list[Opening] = [()] * slots
        self._opponent = np.full(2 * slots, NO_OPPONENT)
        self._player_moves = np.zeros(2 * slots, np.bool_)
        self._results = np.full(2 * slots, ONGOING, np.int8)
        self._faults: dict[int, str] = {}

    def free_slots(self) -> list[int]:
        """Return the slots without games."""
        return np.flatnonzero(self._opponent[::2] == NO_OPPONENT).tolist()

    def start_pair(self, slot: int, opening: Opening, opponent: int) -> None:
        """Start two games against an opponent from the same opening."""
        games = np.array([2 * slot, 2 * slot + 1])
        self._states[games] = self._game.new_states(2)
        self._histories.clear(games)
        for action in opening:
            advance(self._game, self._states, self._histories, games, np.full(2, action, np.int32))
        self._openings[slot] = opening
        self._opponent[games], self._results[games] = opponent, ONGOING
        self._player_moves[games] = np.array([True, False]) == (len(opening) % 2 == 0)

    def play_ply(self, executor: Executor) -> None:
        """Play one ply in every ongoing game; opponents move in `executor`, at the same time."""
        is_ongoing = (self._opponent != NO_OPPONENT) & (self._results == ONGOING)
        replies = executor.submit(self._play_opponents, is_ongoing & ~self._player_moves)
        self._play(self._player, is_ongoing & self._player_moves, sign=1)
        replies.result()
        self._player_moves = ~self._player_moves

    def take_finished(self) -> Iterator[tuple[int, Pair]]:
        """Yield the opponents and games of finished pairs, and free their slots."""
        for slot in range(len(self._openings)):
            games = slice(2 * slot, 2 * slot + 2)
            opponent = int(self._opponent[2 * slot])
            if opponent != NO_OPPONENT and (self._results[games] != ONGOING).all():
                self._opponent[games] = NO_OPPONENT
                yield opponent, (self._finished(2 * slot), self._finished(2 * slot + 1))

    def _play_opponents(self, mask: NDArray[np.bool_]) -> None:
        for number, opponent in enumerate(self._opponents):
            self._play(opponent, mask & (self._opponent == number), sign=-1)

    def _play(self, mover: Player, mask: NDArray[np.bool_], *, sign: int) -> None:
        games = np.flatnonzero(mask)
        if len(games):
            ends = play_ply(self._game, mover, self._states, self._histories, games, self._faults)
            self._results[games] = np.where(ends == ONGOING, ONGOING, sign * ends)

    def _finished(self, g: int) -> MatchGame:
        opening = self._openings[g // 2]
        moves = tuple(self._histories.moves[g][len(opening) :])
        fault, result = self._faults.pop(g, ""), int(self._results[g])
        return MatchGame(opening, moves, g % 2 == 0, result, fault)
