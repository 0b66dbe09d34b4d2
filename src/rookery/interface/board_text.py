"""Boards in the colours of a terminal, from the text in which a game shows a position."""

from rich.console import Group
from rich.text import Text

from rookery.games import Game, plain_name

EMPTY = ".-_"
FIRST, SECOND = "bold red", "bold yellow"
STONES = {"X": FIRST, "O": SECOND}
WHITE, BLACK = "bold yellow", "bold cyan"
LABEL = "dim"
LAST = "reverse"
SAMPLES = {"tictactoe": "519", "connect4": "4453"}
"""Positions that show more of a game than its first one."""


def picture(game: Game) -> Group:
    """Return the name of a game above one of its positions."""
    sample = SAMPLES.get(game.name)
    state = game.position(sample) if sample else game.new_states(1)[0]
    board = coloured(game.show(state), has_figures=has_figures(game))
    return Group(Text(game.name, "bold"), board)


def has_figures(game: Game) -> bool:
    """Return whether letters on the board are chess pieces."""
    return plain_name(game.name) == "chess"


def coloured(text: str, *, before: str = "", has_figures: bool = False) -> Text:
    """Return a board with its pieces in colour, and what differs from `before` in reverse.

    With `has_figures` letters are chess pieces; the first column and the last row are labels.
    """
    board = Text(text)
    lines, earlier = text.split("\n"), before.split("\n")
    start = 0
    for row, line in enumerate(lines):
        for column, sign in enumerate(line):
            is_label = has_figures and (column == 0 or row == len(lines) - 1)
            board.stylize(_style(sign, is_label, has_figures), start + column, start + column + 1)
        if len(earlier) == len(lines) and len(earlier[row]) == len(line):
            for column in range(len(line)):
                if line[column] != earlier[row][column]:
                    board.stylize(LAST, start + column, start + column + 1)
        start += len(line) + 1
    return board


def _style(sign: str, is_label: bool, has_figures: bool) -> str:
    if is_label or sign.isdigit() or sign in EMPTY:
        return LABEL
    if has_figures and sign.isalpha():
        return WHITE if sign.isupper() else BLACK
    return STONES.get(sign, "")
