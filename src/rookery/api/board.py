"""A game in progress, with moves as texts."""

from typing import Any

from rookery.api.svg import board_svg
from rookery.base import IllegalPosition
from rookery.games import ONGOING, Action, Game, State, load_game, plain_name
from rookery.games import Board as GameBoard


def as_game(game: str | Game) -> Game:
    """Return the game of a name or rules file; a loaded game as it is."""
    return load_game(game) if isinstance(game, str) else game


class Board:
    """A position and the moves that led to it.

    Examples:
        >>> board = Board("connect4", "4453")
        >>> board.turn, board.legal_moves
        (0, ['1', '2', '3', '4', '5', '6', '7'])
        >>> board.push("4")
        >>> board.pop()
        '4'
    """

    def __init__(self, game: str | Game, position: str = "") -> None:
        """Start `game`, a name, a rules file or a loaded game, in a position.

        `position` is what the game reads: the moves so far, or in chess a FEN, which
        ` moves e2e4 ...` may follow.
        """
        self.game = as_game(game)
        if "read_position" in self.game.notation:
            self.played = GameBoard.from_text(self.game, position)
        else:
            self.played = GameBoard(self.game)
            for move in position.strip():
                self.push(move)

    @classmethod
    def from_state(cls, game: str | Game, state: State) -> "Board":
        """Return a board with the position of a record, such as those of `Game.random_states`."""
        board = cls(game)
        board.played = GameBoard(board.game, state)
        return board

    @property
    def state(self) -> State:
        """The position as the record that the rules work on."""
        return self.played.state

    @property
    def turn(self) -> int:
        """The player to move: 0, the first player, or 1."""
        moved = len(self.played.actions)
        return (self.game.turn(self.played.first) + moved) % 2

    @property
    def legal_moves(self) -> list[str]:
        """The legal moves, as `push` reads them; none if the game is over."""
        if self.is_over:
            return []
        return [self._write(action) for action in self.game.legal_actions(self.state)]

    @property
    def moves(self) -> list[str]:
        """The moves made on this board, oldest first."""
        replayed, texts = GameBoard(self.game, self.played.first), []
        for action in self.played.actions:
            texts.append(self.game.write_san(replayed.state, action))
            replayed.play(action)
        return texts

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return bool(self.game.rules.outcome(self.state) != ONGOING)

    @property
    def outcome(self) -> int | None:
        """The result for the first player: 1 won, 0 drawn, -1 lost; None if it is not over."""
        found = int(self.game.rules.outcome(self.state))
        if found == ONGOING:
            return None
        return -found if self.turn else found

    def push(self, move: str) -> None:
        """Make a move, or raise IllegalPosition."""
        self.played.play(self.read(move))

    def pop(self) -> str:
        """Take back the last move and return it."""
        if not self.played.actions:
            raise IllegalPosition("there is no move to take back")
        action = self.played.actions[-1]
        self.played.undo(1)
        return self._write(action)

    def read(self, move: str) -> Action:
        """Return the action of a move here, or raise IllegalPosition."""
        if self.is_over:
            raise IllegalPosition(f"{move} cannot be played: the game is over")
        action = self.game.read_move(self.state, move)
        if action not in self.game.legal_actions(self.state):
            raise IllegalPosition(f"{move} is not a legal move here")
        return action

    def copy(self) -> "Board":
        """Return an independent board with the same moves."""
        copied = Board(self.game)
        copied.played = self.played.copy()
        return copied

    def _write(self, action: Action) -> str:
        return self.game.write_san(self.state, action)

    def __eq__(self, other: Any) -> bool:
        return (
            isinstance(other, Board)
            and self.game.name == other.game.name
            and self.played.first.tobytes() == other.played.first.tobytes()
            and self.played.actions == other.played.actions
        )

    def __str__(self) -> str:
        return self.game.show(self.state)

    def svg(self) -> str:
        """Return a picture of the position, which notebooks show."""
        return board_svg(
            str(self),
            size=self.game.planes_shape[1:],
            has_figures=plain_name(self.game.name) == "chess",
        )

    _repr_svg_ = svg

    def __repr__(self) -> str:
        made = " ".join(self.moves)
        return f"<Board {self.game.name}{f' {made}' if made else ''}>"
