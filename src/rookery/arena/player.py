"""The interface of a player, and the check of the moves that it chooses."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rookery.arena.lockstep import Histories, legal_mask
from rookery.base import IllegalPosition
from rookery.games import Game, States

FORFEIT = -1
"""The action of a player that cannot continue; it loses the game."""


class Player(Protocol):
    """Chooses moves in many games at once.

    The same seed and the same calls give the same moves.
    """

    @property
    def name(self) -> str:
        """The name of the player in reports."""

    def choose(self, states: States, histories: Histories | None = None) -> NDArray[np.int32]:
        """Return [G] legal actions, one for each of the states [G], none of which is terminal.

        `histories` lets a player recognise repetitions. A player that may return FORFEIT has an
        attribute `faults`: one line for each forfeit of the last call, with the reason.
        """


def faults_of(player: Player) -> list[str]:
    """Return why the player forfeited games in its last call, one line for each."""
    return list(getattr(player, "faults", ()))


def value_of(player: Player) -> float | None:
    """Return the value of the one state of the player's last call, for the player to move.

    It is between -1 and 1; None if the player does not tell.
    """
    value = getattr(player, "value", None)
    return None if value is None else float(value)


def choose_moves(
    player: Player, states: States, histories: Histories | None = None, *, game: Game
) -> NDArray[np.int32]:
    """Return the moves [G] that the player chooses, checked.

    Raise IllegalPosition with the name of the player if one is not legal. FORFEIT is accepted
    from players that give a reason.
    """
    actions = np.asarray(player.choose(states.copy(), histories))
    if actions.shape != (len(states),) or not np.issubdtype(actions.dtype, np.integer):
        raise IllegalPosition(
            f"{player.name} returned {actions.dtype} {list(actions.shape)} for {len(states)} states"
            f" of {game.name}; a player returns one integer per state"
        )
    is_action = (actions >= 0) & (actions < game.num_actions)
    rows = np.arange(len(states))
    is_valid = is_action & legal_mask(game, states)[rows, np.where(is_action, actions, 0)]
    is_valid |= (actions == FORFEIT) & bool(faults_of(player))
    if not is_valid.all():
        first = int(np.flatnonzero(~is_valid)[0])
        raise IllegalPosition(
            f"{player.name} chose action {actions[first]} in {game.name}, where only"
            f" {game.legal_actions(states[first])} are legal; was it made for another game?\n"
            f"{game.show(states[first])}"
        )
    return actions.astype(np.int32)
