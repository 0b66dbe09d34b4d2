"""Chess by the FIDE rules, on bitboards seen by the player to move.

Games end by checkmate, stalemate, the fifty-move rule, threefold repetition and insufficient
material. The imported names are the rules that `game.from_module` reads.
"""

# ruff: noqa: F401
import sys
from types import ModuleType

from rookery.games.chess.actions import MAX_LEGAL, NUM_ACTIONS, POLICY_CELLS
from rookery.games.chess.fen import write_position
from rookery.games.chess.moves import legal, outcome, play
from rookery.games.chess.notation import (
    read_move,
    read_position,
    show,
    turn,
    write_move,
    write_san,
)
from rookery.games.chess.pgn import read_games, write_games
from rookery.games.chess.position import (
    PLANES,
    STATE,
    key,
    planes,
    reversible_plies,
    set_repetitions,
    start,
)
from rookery.games.chess.variant import with_option

NAME = "chess"
VERSION = 1
MAX_PLIES = 11_797  # longest game under the fifty-move rule
REPETITION_WINDOW = 128  # the fifty-move rule allows 100 reversible plies
SYMMETRIES = ((range(64), range(NUM_ACTIONS)),)


def variant(option: str) -> ModuleType:
    """Return the rules of a variant, such as `history=3` with earlier positions in the planes."""
    return with_option(sys.modules[__name__], option)
