"""What the arena calls a player: something with a name that chooses moves for many games."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rookery.arena.lockstep import Past, legal_mask
from rookery.base import IllegalPosition
from rookery.games import Game, States

FORFEIT = -1
"""The action of a player that cannot go on: it has lost the game."""


class Player(Protocol):
    """Chooses moves, the same ones again for the same seed and the same calls."""

    @property
    def name(self) -> str:
        """How reports call the player."""

    def choose(self, states: States, past: Past | None = None) -> NDArray[np.int32]:
        """[B] a legal action for each of the B states, none of which is terminal.

        Players that heed repetition look at the `past`, where it is known. A player that may
        answer FORFEIT has `faults`, a list that says why: a line for each of the last answers.
        """


def faults_of(player: Player) -> list[str]:
    """Why the player forfeited games when it was last asked."""
    return list(getattr(player, "faults", ()))


def ask(
    player: Player, states: States, past: Past | None = None, *, game: Game
) -> NDArray[np.int32]:
    """The player's moves, or IllegalPosition with the player's name if one is not legal.

    FORFEIT is let through from players that say why.
    """
    actions = np.asarray(player.choose(states.copy(), past))
    if actions.shape != (len(states),) or not np.issubdtype(actions.dtype, np.integer):
        raise IllegalPosition(
            f"{player.name} answered {actions.dtype} {list(actions.shape)} to {len(states)} states"
            f" of {game.name}; a player returns one whole number a state"
        )
    inside = (actions >= 0) & (actions < game.num_actions)
    rows = np.arange(len(states))
    right = inside & legal_mask(game, states)[rows, np.where(inside, actions, 0)]
    right |= (actions == FORFEIT) & bool(faults_of(player))
    if not right.all():
        wrong = int(np.flatnonzero(~right)[0])
        raise IllegalPosition(
            f"{player.name} chose action {actions[wrong]} in {game.name}, where only"
            f" {game.legal_actions(states[wrong])} are legal; was it made for another game?\n"
            f"{game.show(states[wrong])}"
        )
    return actions.astype(np.int32)
