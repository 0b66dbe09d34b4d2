"""One game under way: the moves made, the position they led to, and what stood before it."""

from collections.abc import Iterable

from rookery.base import IllegalPosition
from rookery.games.game import Action, Game, State
from rookery.games.repetitions import bind_repetitions, new_repetitions


class Board:
    """A game from its first position on, with repetition noticed where the rules ask for it."""

    def __init__(self, game: Game, first: State | None = None) -> None:
        self.game = game
        self.first: State = game.new_states(1)[0] if first is None else first.copy()
        self._begin()

    def _begin(self) -> None:
        self.states = self.game.blank_states(1)
        """[1] the present position."""
        self.states[0] = self.first
        self.repetitions = new_repetitions(self.game, 1)
        self.actions: list[Action] = []

    @property
    def state(self) -> State:
        """The present position."""
        return self.states[0]

    def play(self, action: Action) -> None:
        """Make a move, which must be legal, and remember it."""
        bind_repetitions(self.game.rules).play(self.repetitions, self.states[0], int(action), 0)
        self.actions.append(int(action))

    def take_back(self, count: int) -> None:
        """Undo the last `count` moves."""
        kept = self.actions[: len(self.actions) - count]
        self._begin()
        self.play_all(kept)

    @classmethod
    def read(cls, game: Game, text: str) -> "Board":
        """The game that `text` tells: a position, and in some games ` moves ` that followed.

        Moves alone are made here as well, so that what they repeat is known.
        """
        first, _, moves = (
            text.strip().partition(" moves ") if game.repetition_window > 1 else (text, "", "")
        )
        if game.repetition_window > 1 and _begins_with_a_move(game, first):
            first, moves = "", f"{first} {moves}"
        board = cls(game, game.position(first))
        for move in moves.split():
            board.play(game.module.read_move(board.state, move))
        return board

    def play_all(self, actions: Iterable[Action]) -> None:
        """Make several moves."""
        for action in actions:
            self.play(action)


def _begins_with_a_move(game: Game, text: str) -> bool:
    """Whether the first word is a move of a new game, rather than a position."""
    try:
        game.module.read_move(game.new_states(1)[0], text.partition(" ")[0])
    except IllegalPosition:
        return False
    return True
