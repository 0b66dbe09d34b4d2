"""Random openings: what makes the games of self-play differ from their first move on.

A move of an opening is drawn at random, but drawn again (a few times) if it ends the game or lets
the opponent win at once: such positions teach little.
"""

from types import ModuleType

from rookery.base import compiled, namespace, uniform
from rookery.games import LOSS, ONGOING

TRIES = 8


def bind(rules: ModuleType) -> ModuleType:
    """`open_game(states, plies, scratch, legal, streams, g)` for the game of `rules`."""

    @compiled
    def can_win(state, spare, legal):  # type: ignore[no-untyped-def]
        """Whether the player to move wins with one move; `spare` holds one state."""
        count = rules.legal(state, legal)
        for i in range(count):
            spare[0] = state
            rules.play(spare[0], legal[i])
            if rules.outcome(spare[0]) == LOSS:
                return True
        return False

    sight = namespace(f"{rules.__name__}.sight", {"can_win": can_win})

    @compiled
    def draw_ply(state, scratch, legal, streams, g):  # type: ignore[no-untyped-def]
        """Leave the position after a random move in scratch[0]; whether the game goes on there."""
        for _ in range(TRIES):
            count = rules.legal(state, legal)
            scratch[0] = state
            rules.play(scratch[0], legal[min(int(uniform(streams, g) * count), count - 1)])
            is_going_on = rules.outcome(scratch[0]) == ONGOING
            if is_going_on and not sight.can_win(scratch[0], scratch[1:], legal):
                break
        return is_going_on

    plies_of = namespace(f"{rules.__name__}.plies", {"draw_ply": draw_ply})

    @compiled
    def open_game(states, plies, scratch, legal, streams, g):  # type: ignore[no-untyped-def]
        """Set states[g] to a start followed by `plies` moves; whether the game still goes on."""
        rules.start(states[g])
        for _ in range(plies):
            if not plies_of.draw_ply(states[g], scratch, legal, streams, g):
                return False
            states[g] = scratch[0]
        return True

    return namespace(f"{rules.__name__}.openings", {"open_game": open_game})
