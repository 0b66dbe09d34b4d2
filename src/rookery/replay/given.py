"""Rows of games given to learn from: the policy is the move made, the value the result."""

from collections.abc import Sequence

import numpy as np

from rookery.base import IllegalPosition
from rookery.games import DRAW, ONGOING, Action, Board, Game, State
from rookery.replay.rows import GIVEN, UNIT, Rows, new_rows, select


def given_rows(game: Game, first: State, actions: Sequence[Action], result: int) -> Rows:
    """Return the rows of a game that began in `first`, up to where the rules end it.

    `result` is for the player to move in `first`; ONGOING means that only the rules can tell. Raise
    IllegalPosition if they do not, if they tell another result, or if a move is illegal.
    """
    if len(actions) > game.max_plies:
        raise IllegalPosition(f"longer than {game.max_plies:,} moves")
    board, rows, length = Board(game, first), new_rows(game, len(actions)), 0
    for action in actions:
        if game.rules.outcome(board.state) != ONGOING:
            break
        _write_row(board, action, rows, length)
        board.play(action)
        length += 1
    signs = np.resize(np.array([1, -1], np.int8), length + 1)
    outcome = int(game.rules.outcome(board.state))
    by_rules = outcome * int(signs[length]) if outcome != ONGOING else result
    if length == 0 or by_rules == ONGOING:
        raise IllegalPosition("unfinished" if length else "no moves")
    if result not in (by_rules, ONGOING):
        raise IllegalPosition("another result than by the rules")
    rows = select(rows, slice(0, length))
    rows.results[:] = by_rules * signs[:length]
    rows.values[:], rows.draws[:] = rows.results, by_rules == DRAW
    rows.plies[:], rows.iterations[:] = np.arange(length), GIVEN
    return rows


def _write_row(board: Board, action: Action, rows: Rows, row: int) -> None:
    """Write the position, its legal actions and the move made."""
    legal = board.game.legal_actions(board.state)
    if action not in legal:
        raise IllegalPosition("an illegal move")
    rows.states[row], rows.moves[row], rows.num_legal[row] = board.state, action, len(legal)
    rows.legal[row, : len(legal)] = legal
    rows.policy[row, legal.index(action)] = UNIT
