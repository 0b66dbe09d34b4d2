"""Players without a network: random, minimax, solvers and engines.

Their moves cannot be cut into slices. They run in threads of their own, one move at a time for
each player.
"""

import threading

import numpy as np

from rookery.api import Board, read_player_spec
from rookery.arena import FORFEIT, Histories, Player, choose_moves, faults_of
from rookery.base import ConfigError
from rookery.games import Action
from rookery.interface.web.players import Choice


class Opponents:
    """Players that are kept between moves, by game and id."""

    def __init__(self) -> None:
        self._players: dict[tuple[str, str], tuple[Player, threading.Lock]] = {}
        self._lock = threading.Lock()

    def choose(self, key: str, choice: Choice, board: Board) -> Action:
        """Return the move of a player, or raise ConfigError if it has none."""
        if board.is_over:
            raise ConfigError("the game is over; there is no move to find")
        player, lock = self._player(key, choice, board)
        with lock:
            action = int(
                choose_moves(player, board.played.states, _history(board), game=board.game)[0]
            )
            if action == FORFEIT:
                raise ConfigError(f"{choice.label} gave no move: {faults_of(player)[0]}")
        return action

    def _player(self, key: str, choice: Choice, board: Board) -> tuple[Player, threading.Lock]:
        with self._lock:
            if (key, choice.id) not in self._players:
                seed = int(np.random.SeedSequence().generate_state(1)[0])
                player = read_player_spec(choice.name, board.game).player(board.game, seed=seed)
                self._players[key, choice.id] = player, threading.Lock()
            return self._players[key, choice.id]

    def close(self) -> None:
        """Forget all players, which ends the processes of engines."""
        self._players.clear()


def _history(board: Board) -> Histories | None:
    """Return the moves so far, which engines read from the usual first position only."""
    first = board.game.new_states(1)[0]
    if board.played.first.tobytes() != first.tobytes():
        return None
    return Histories(board.played.repetitions, [list(board.played.actions)])
