"""Games read back from rows: where each begins, and the moves that lead from row to row.

Rows keep positions and not moves, so a game begins where it left its random opening, and the last
move of all, which leads to no further row, is not known.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from rookery.games import Action, Game, State, States
from rookery.replay.samples import Samples


@dataclass(frozen=True)
class GameTrace:
    """One game of self-play, as far as its rows tell."""

    states: States
    """[T] the positions searched."""
    actions: tuple[Action, ...]
    """The T - 1 moves between them."""
    result: int
    """WIN, DRAW or LOSS for the player to move in states[0]."""


def trace_games(samples: Samples, game: Game) -> Iterator[GameTrace]:
    """The games whose rows lie in `samples`, in order."""
    first, actions = 0, list[Action]()
    for row in range(1, len(samples) + 1):
        action = _move_into(samples, row, game) if row < len(samples) else None
        if action is not None:
            actions.append(action)
            continue
        yield GameTrace(samples.states[first:row], tuple(actions), int(samples.results[first]))
        first, actions = row, []


def _move_into(samples: Samples, row: int, game: Game) -> Action | None:
    """The move from the row before to `row`, if they are of one game."""
    if samples.plies[row] != samples.plies[row - 1] + 1:
        return None
    before, after = samples.states[row - 1], samples.states[row]
    for action in game.legal_actions(before):
        copy = before.copy()
        game.rules.play(copy, action)
        if _is_same(game, copy, after):
            return action
    return None


def _is_same(game: Game, one: State, other: State) -> bool:
    """Whether two positions are the same but for how often they stood before."""
    if game.repetition_window > 1:
        return bool(game.rules.key(one) == game.rules.key(other))
    return bool(one.tobytes() == other.tobytes())
