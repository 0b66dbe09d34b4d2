"""Pairs of games from one opening: a player against its opponents, all games in lockstep."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rookery.arena.lockstep import Histories, advance, outcomes
from rookery.arena.openings import Opening
from rookery.arena.player import FORFEIT, Player, choose_moves, faults_of
from rookery.games import LOSS, ONGOING, Action, Game

NO_OPPONENT = -1


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

    def play_ply(self, executor: Executor | None = None) -> bool:
        """Play one ply in every ongoing game, and return whether there was any.

        With an executor, the opponents move in it at the same time as the player.
        """
        is_ongoing = (self._opponent != NO_OPPONENT) & (self._results == ONGOING)
        replying = is_ongoing & ~self._player_moves
        replies = executor.submit(self._play_opponents, replying) if executor else None
        self._play(self._player, is_ongoing & self._player_moves, sign=1)
        if replies:
            replies.result()
        else:
            self._play_opponents(replying)
        self._player_moves = ~self._player_moves
        return bool(is_ongoing.any())

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
        """Play one move in each game of `mask`; a forfeited game is lost and keeps its state."""
        games = np.flatnonzero(mask)
        if not len(games):
            return
        game, states, histories = self._game, self._states, self._histories
        actions = choose_moves(mover, states[games], histories.select(games), game=game)
        has_moved = actions != FORFEIT
        self._faults.update(zip(games[~has_moved].tolist(), faults_of(mover), strict=False))
        advance(game, states, histories, games[has_moved], actions[has_moved])
        ends = outcomes(game, states[games])
        results = np.where(has_moved, np.where(ends == ONGOING, ONGOING, -ends), LOSS)
        self._results[games] = np.where(results == ONGOING, ONGOING, sign * results)

    def _finished(self, g: int) -> MatchGame:
        opening = self._openings[g // 2]
        moves = tuple(self._histories.moves[g][len(opening) :])
        fault, result = self._faults.pop(g, ""), int(self._results[g])
        return MatchGame(opening, moves, g % 2 == 0, result, fault)


def play_pairs(
    game: Game,
    player: Player,
    opponents: Sequence[Player],
    pairs: Sequence[tuple[int, Opening]],
    check: Callable[[], None] = lambda: None,
) -> list[tuple[int, Pair]]:
    """Play pairs of games in lockstep; each has an opponent, by its index, and an opening.

    `check` is called after every ply and may raise.
    """
    in_flight = GamesInFlight(game, player, opponents, len(pairs))
    for slot, (opponent, opening) in enumerate(pairs):
        in_flight.start_pair(slot, opening, opponent)
    while in_flight.play_ply():
        check()
    return list(in_flight.take_finished())
