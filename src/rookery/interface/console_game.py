"""A game between a person and a player, in the console."""

import os
from pathlib import Path

from rich.console import Console

from rookery.arena import FORFEIT, Histories, Player, choose_moves, faults_of, value_of
from rookery.base import IllegalPosition
from rookery.games import DRAW, LOSS, ONGOING, WIN, Action, Board, Game, GameRecord
from rookery.interface.board_text import coloured, has_figures
from rookery.interface.game_files import write_records

HELP = "Type a move, or undo, hint, help or quit."
COMMANDS = {
    "board": "show the board again",
    "moves": "list the legal moves",
    "hint": "show what the opponent would play, and its value",
    "undo": "take back your last move and the answer",
    "save FILE": "write the game to FILE, and again when it ends, as `match --jsonl` does",
    "resign": "lose the game",
    "quit": "leave the game unfinished",
}


class ConsoleGame:
    """One game: the person types moves, the player answers."""

    def __init__(self, game: Game, player: Player, *, console: Console, person_first: bool) -> None:
        self._game, self._player, self._console = game, player, console
        self._person_first = person_first
        self._board = Board(game)
        self._result = ONGOING
        """WIN, DRAW or LOSS for the person once the game is over."""
        self._file: Path | None = None

    def play(self) -> None:
        """Play until the game is over or the person quits."""
        self._play()
        if self._file is not None:
            self._write(self._file)

    def _play(self) -> None:
        order = "You move first." if self._person_first else f"{self._player.name} moves first."
        self._say(f"{self._game.name} against {self._player.name}. {order} {HELP}")
        self._show()
        while self._game.rules.outcome(self._board.state) == ONGOING:
            continues = self._ask() if self._is_persons_turn() else self._answer()
            if not continues:
                return
        outcome = int(self._game.rules.outcome(self._board.state))
        self._end(outcome if self._is_persons_turn() else -outcome)

    def _end(self, result: int, why: str = "") -> None:
        self._result = result
        self._say(why + {WIN: "You won.", DRAW: "A draw.", LOSS: "You lost."}[result])

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
        if text == "resign":
            self._end(LOSS)
            return False
        command, _, name = text.partition(" ")
        actions = {
            "help": self._help,
            "board": self._show,
            "moves": self._moves,
            "hint": self._hint,
            "undo": self._undo,
        }
        if text in actions:
            actions[text]()
        elif command == "save":
            self._save(name.strip())
        elif text:
            self._move(text)
        return True

    def _help(self) -> None:
        for command, meaning in COMMANDS.items():
            self._say(f"{command:9}  {meaning}")

    def _moves(self) -> None:
        self._say(" ".join(map(self._format, self._game.legal_actions(self._board.state))))

    def _save(self, name: str) -> None:
        """Write the game to a new file, or again to the one that has it."""
        path = Path(name)
        if not name:
            self._say("Name a file, as in save game.jsonl")
        elif os.path.lexists(path) and path != self._file:
            self._say(f"{path} exists already and is not overwritten; choose another name")
        elif self._write(path):
            self._file = path

    def _write(self, path: Path) -> bool:
        """Write the game so far; return whether that was possible."""
        result = self._result if self._person_first or self._result == ONGOING else -self._result
        try:
            write_records(self._game, [GameRecord(tuple(self._board.actions), result)], path)
        except (OSError, ValueError) as error:
            self._say(f"{path} cannot be written: {error}")
            return False
        self._say(f"The game is in {path}")
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
            return
        told = self._value(1, ", 1 is a win and -1 a loss")
        self._say(f"{self._player.name} would play {self._format(action)}{told}")

    def _value(self, sign: int, meaning: str = "") -> str:
        """Return the value of the player's last search for the person, if it tells one."""
        value = value_of(self._player)
        if value is None:
            return ""
        rounded = round(sign * value, 2) + 0.0  # never -0.00
        return f"; value {rounded:+.2f} for you{meaning}"

    def _answer(self) -> bool:
        """Play the player's move; return False if it forfeits the game."""
        action = self._choice()
        if action == FORFEIT:
            self._end(WIN, f"{faults_of(self._player)[0]}. ")
            return False
        self._say(f"{self._player.name} plays {self._format(action)}{self._value(-1)}")
        self._board.play(action)
        self._show()
        return True

    def _choice(self) -> Action:
        board = self._board
        histories = Histories(board.repetitions, [list(board.actions)])
        return int(choose_moves(self._player, board.states, histories, game=self._game)[0])

    def _format(self, action: Action) -> str:
        return self._game.write_san(self._board.state, action)

    def _show(self) -> None:
        text, before = self._game.show(self._board.state), ""
        if made := self._board.actions:
            earlier = Board(self._game)
            earlier.play_all(made[:-1])
            before = self._game.show(earlier.state)
        board = coloured(text, before=before, has_figures=has_figures(self._game))
        self._console.print("\n", board, "\n", sep="", soft_wrap=True)

    def _say(self, text: str) -> None:
        self._console.print(text, markup=False, soft_wrap=True)
