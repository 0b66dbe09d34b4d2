"""Check the functions of a rules module that read and write text."""

from contextlib import suppress

from rookery.base import IllegalPosition
from rookery.games.contract.random_games import (
    CheckFailed,
    CheckWarning,
    RandomGames,
    after,
    legal_moves,
    require,
)
from rookery.games.game import ONGOING, Action, Game, State

INVALID_MOVES = ("", "?!", "9999999999")


def check_notation(played: RandomGames) -> str:
    """Check that text is read back as written, and that invalid moves raise IllegalPosition."""
    game = played.game
    for state, line in played.positions():
        board = game.show(state)
        require(
            isinstance(board, str) and board, f"show returns {board!r} {after(line)}: expected text"
        )
        if game.rules.outcome(state) == ONGOING:
            for action in legal_moves(game, game.rules, state):
                _check_move(game, state, action, line)
    for text in INVALID_MOVES:
        _check_invalid_move(game, text)
    if game.has_position_notation:
        _check_position_notation(played)
    else:
        _check_moves_as_position(played)
    return "moves and positions are read as they are written"


def _check_move(game: Game, state: State, action: Action, line: list[Action]) -> None:
    text = game.write_move(state, action)
    try:
        found = game.read_move(state, text)
    except IllegalPosition as error:
        raise CheckFailed(
            f"action {action} {after(line)} is in legal and is written {text!r}, but read_move"
            f" rejects it ({error}): is it legal?"
        ) from error
    require(
        found == action, f"action {action} {after(line)} is written {text!r} but read as {found}"
    )


def _check_invalid_move(game: Game, text: str) -> None:
    try:
        action = game.read_move(game.new_states(1)[0], text)
    except IllegalPosition:
        return
    except Exception as error:
        raise CheckFailed(
            f"read_move raises {type(error).__name__} for {text!r}: raise IllegalPosition"
        ) from error
    raise CheckFailed(f"read_move reads {text!r} as action {action}: raise IllegalPosition")


def _check_position_notation(played: RandomGames) -> None:
    """Check that positions are read as written, up to what a key ignores."""
    game = played.game
    identity = game.rules.key if game.has_repetitions else bytes
    for state, line in played.positions():
        text = game.write_position(state)
        require(
            identity(game.position(text)) == identity(state),
            f"the position {after(line)} is written {text!r} but read as a different one",
        )


def _check_moves_as_position(played: RandomGames) -> None:
    """Check that a position can be read as its moves, written without separators or with spaces."""
    game = played.game
    for line in played.lines:
        state, moves = game.new_states(1)[0], []
        for action in line:
            moves.append(game.write_move(state, action))
            game.rules.play(state, action)
        text, found = _read_moves(game, moves)
        require(
            found.tobytes() == state.tobytes(),
            f"read_position({text!r}) differs from the position after these moves",
        )


def _read_moves(game: Game, moves: list[str]) -> tuple[str, State]:
    """Return moves as the text that the game reads, and the position that it reads."""
    together = "".join(moves)
    for text in (together, " ".join(moves)):
        with suppress(IllegalPosition):
            return text, game.position(text)
    raise CheckWarning(
        f"read_position reads {together!r} neither so nor with spaces between the moves, so it was"
        " not checked (ignore this if positions have a notation of their own)"
    )
