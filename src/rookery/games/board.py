"""One game in progress: its first position, the moves made, and repetitions."""

from collections.abc import Iterable

from rookery.base import IllegalPosition
from rookery.games.game import Action, Game, State
from rookery.games.repetitions import Repetitions, bind_repetitions, new_repetitions


class Board:
    """A game from its first position on. Counts repetitions if the rules need them."""

    def __init__(self, game: Game, first: State | None = None) -> None:
        self.game = game
        self.first: State = game.new_states(1)[0] if first is None else first.copy()
        self._reset()

    def _reset(self) -> None:
        self.states = self.game.blank_states(1)
        """[1] the current position."""
        self.states[0] = self.first
        self.repetitions = new_repetitions(self.game, 1)
        self.actions: list[Action] = []

    @property
    def state(self) -> State:
        """The current position."""
        return self.states[0]

    def play(self, action: Action) -> None:
        """Make a legal move."""
        bind_repetitions(self.game.rules).play(self.repetitions, self.states[0], int(action), 0)
        self.actions.append(int(action))

    def play_all(self, actions: Iterable[Action]) -> None:
        """Make several legal moves."""
        for action in actions:
            self.play(action)

    def undo(self, count: int) -> None:
        """Take back the last `count` moves."""
        kept = self.actions[: len(self.actions) - count]
        self._reset()
        self.play_all(kept)

    def copy(self) -> "Board":
        """Return an independent board with the same moves."""
        copied = Board(self.game, self.first)
        copied.states[:] = self.states
        keys, counts = self.repetitions
        copied.repetitions = Repetitions(keys.copy(), counts.copy())
        copied.actions = list(self.actions)
        return copied

    @classmethod
    def from_text(cls, game: Game, text: str) -> "Board":
        """Return the game that `text` describes, or raise IllegalPosition.

        If positions can repeat, `text` may be a position, moves, or a position followed by
        ` moves ` and moves. These moves are made on the board, so that it counts repetitions.
        """
        if game.repetition_window == 1:
            return cls(game, game.position(text))
        first, _, moves = text.strip().partition(" moves ")
        if _begins_with_a_move(game, first):
            first, moves = "", f"{first} {moves}"
        board = cls(game, game.position(first))
        for move in moves.split():
            board.play(game.read_move(board.state, move))
        return board


def _begins_with_a_move(game: Game, text: str) -> bool:
    """Return whether the first word is a move in the first position of the game."""
    try:
        game.read_move(game.new_states(1)[0], text.partition(" ")[0])
    except IllegalPosition:
        return False
    return True
