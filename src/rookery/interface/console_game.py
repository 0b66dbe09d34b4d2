"""A game between a person and a player, in the console."""

from rich.console import Console
from rich.text import Text

from rookery.arena import FORFEIT, Histories, Player, choose_moves, faults_of
from rookery.base import IllegalPosition
from rookery.games import DRAW, ONGOING, WIN, Action, Board, Game

HELP = "Type a move, or undo, hint or quit."


class ConsoleGame:
    """One game: the person types moves, the player answers."""

    def __init__(self, game: Game, player: Player, *, console: Console, person_first: bool) -> None:
        self._game, self._player, self._console = game, player, console
        self._person_first = person_first
        self._board = Board(game)

    def play(self) -> None:
        """Play until the game is over or the person quits."""
        order = "You move first." if self._person_first else f"{self._player.name} moves first."
        self._say(f"{self._game.name} against {self._player.name}. {order} {HELP}")
        self._show()
        while self._game.rules.outcome(self._board.state) == ONGOING:
            continues = self._ask() if self._is_persons_turn() else self._answer()
            if not continues:
                return
        self._say(self._result())

    def _is_persons_turn(self) -> bool:
        return (len(self._board.actions) % 2 == 0) == self._person_first

    def _ask(self) -> bool:
        """Read one line from the person; return False to quit."""
        try:
            text = input("your move: ").strip()
        except EOFError:
            self._say("")
            return False
        if text in ("quit", "exit", "q"):
            return False
        if text == "undo":
            self._undo()
        elif text == "hint":
            self._hint()
        elif text:
            self._move(text)
        return True

    def _move(self, text: str) -> None:
        try:
            self._board.play(self._game.read_move(self._board.state, text))
        except IllegalPosition as error:
            self._say(f"{error}. {HELP}")
        else:
            self._show()

    def _undo(self) -> None:
        """Return to the position before the person's last move."""
        if len(self._board.actions) < 2:
            self._say("Nothing to undo.")
        else:
            self._board.undo(2)
            self._show()

    def _hint(self) -> None:
        action = self._choice()
        if action == FORFEIT:
            self._say(f"No hint available: {faults_of(self._player)[0]}")
        else:
            self._say(f"{self._player.name} would play {self._format(action)}")

    def _answer(self) -> bool:
        """Play the player's move; return False if it forfeits the game."""
        action = self._choice()
        if action == FORFEIT:
            self._say(f"{faults_of(self._player)[0]}. You won.")
            return False
        self._say(f"{self._player.name} plays {self._format(action)}")
        self._board.play(action)
        self._show()
        return True

    def _choice(self) -> Action:
        board = self._board
        histories = Histories(board.repetitions, [list(board.actions)])
        return int(choose_moves(self._player, board.states, histories, game=self._game)[0])

    def _format(self, action: Action) -> str:
        return self._game.write_san(self._board.state, action)

    def _result(self) -> str:
        outcome = int(self._game.rules.outcome(self._board.state))
        if outcome == DRAW:
            return "A draw."
        return "You won." if (outcome == WIN) == self._is_persons_turn() else "You lost."

    def _show(self) -> None:
        board = Text("\n" + self._game.show(self._board.state) + "\n")
        board.highlight_words(["X"], "bold red")
        board.highlight_words(["O"], "bold yellow")
        self._console.print(board, soft_wrap=True)

    def _say(self, text: str) -> None:
        self._console.print(text, markup=False, soft_wrap=True)
