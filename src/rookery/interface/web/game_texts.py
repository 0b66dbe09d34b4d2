"""Games as texts: what people paste, and what they save.

A text is read by the game's own reader: a PGN or FEN in chess, a line of `rookery play`'s `save`
or of `match --jsonl` in any game, or just the moves.
"""

import json
import re
from typing import Any

from rookery.api import Board
from rookery.base import ConfigError, IllegalPosition
from rookery.games import ONGOING, RESULT_TEXTS, RESULTS, Game, GameRecord, plain_name
from rookery.interface.web.boards import make_board
from rookery.interface.web.limits import MAX_MOVES

MAX_HEADERS = 30
MAX_HEADER = 200
MOVE_NUMBER = re.compile(r"\d+\.+")


def read_game(game: Game, text: str) -> dict[str, Any]:
    """Return the first game in a text as start, moves and headers, or raise ConfigError."""
    text = text.strip().removeprefix("\ufeff").strip()
    if text.startswith("{"):
        return _read_record(game, text)
    try:
        if game.has_game_notation and not _is_position(game, text):
            return _read_notation(game, text)
        return _plain(_read_moves(game, text))
    except IllegalPosition as error:
        reason = str(error).removesuffix("; fix the file")
        raise IllegalPosition(f"{reason}; paste {what_is_read(game)}") from error


def what_is_read(game: Game) -> str:
    """Return in words which texts `read_game` takes."""
    if game.has_game_notation:
        return "a FEN, a PGN, moves such as e4 e5 or e2e4 e7e5, or a saved game"
    position = "a position, " if game.has_position_notation else ""
    first = game.new_states(1)[0]
    move = game.write_move(first, int(game.legal_actions(first)[0]))
    return f"{position}moves such as {move} one after the other, or a saved game"


def _read_notation(game: Game, text: str) -> dict[str, Any]:
    """Read a game record, or tell what is wrong with a FEN."""
    if text.partition(" ")[0].count("/") > 1:
        Board(game, text)
    records = game.read_games(text)
    if not records:
        raise IllegalPosition("there is no game in this text")
    return _from_record(game, records[0])


def _is_position(game: Game, text: str) -> bool:
    """Whether a text is a position such as a FEN, or moves in UCI, rather than a game record."""
    try:
        Board(game, " ".join(text.split()))
    except IllegalPosition:
        return False
    return True


def _read_moves(game: Game, text: str) -> Board:
    """Return the game of a text of moves, with or without spaces and numbers, or of a position."""
    words = [word for word in re.split(r"[\s,]+", text) if word and not MOVE_NUMBER.fullmatch(word)]
    try:
        return make_board(game, "", words)
    except IllegalPosition as error:
        try:
            return Board(game, " ".join(text.split()))
        except IllegalPosition:
            raise error from None


def _read_record(game: Game, text: str) -> dict[str, Any]:
    """Read a game that was saved as JSON."""
    try:
        plain = json.loads(text.splitlines()[0])
        start, moves = plain.get("start", ""), plain["moves"]
        if not (isinstance(start, str) and isinstance(moves, list)):
            raise TypeError("a game has a text and a list")
        if not all(isinstance(move, str) for move in moves):
            raise TypeError("moves are texts")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ConfigError('this is no saved game; expected {"moves": [...]}') from error
    if len(moves) > MAX_MOVES:
        raise ConfigError(f"a game may have at most {MAX_MOVES} moves here")
    return _plain(make_board(game, start, moves), start)


def _from_record(game: Game, record: GameRecord) -> dict[str, Any]:
    if len(record.actions) > MAX_MOVES:
        raise ConfigError(f"a game may have at most {MAX_MOVES} moves here")
    board = Board(game, record.start)
    for action in record.actions:
        if board.is_over:
            raise IllegalPosition("the game goes on after its end")
        board.played.play(action)
    headers = dict(list(record.headers.items())[:MAX_HEADERS])
    short = {name[:MAX_HEADER]: value[:MAX_HEADER] for name, value in headers.items()}
    return {**_plain(board, record.start), "headers": short}


def _plain(board: Board, start: str | None = None) -> dict[str, Any]:
    game = board.game
    if start is None:
        first = board.played.first
        is_usual = first.tobytes() == game.new_states(1)[0].tobytes()
        start = "" if is_usual else _position_text(board)
    state, moves = board.played.first.copy(), []
    for action in board.played.actions:
        moves.append(game.write_move(state, action))
        game.rules.play(state, action)
    return {"start": start, "moves": moves}


def _position_text(board: Board) -> str:
    if not board.game.has_position_notation:
        raise ConfigError(f"give the moves one by one; {board.game.name} has no notation for this")
    return board.game.write_position(board.played.first)


def write_game(game: Game, start: str, moves: list[str], result: str = "") -> dict[str, str]:
    """Return a game as a text to save, in PGN or as a line of JSON, and a name for its file."""
    if result and result not in RESULTS:
        raise ConfigError(f"the result must be one of {', '.join(RESULTS)}")
    board = make_board(game, start, moves)
    outcome = board.outcome
    value = RESULTS[result] if result and outcome is None else outcome
    value = ONGOING if value is None else value
    name = re.sub(r"[^A-Za-z0-9-]+", "-", plain_name(game.name)) or "game"
    if game.has_game_notation:
        record = GameRecord(tuple(board.played.actions), value, start)
        return {"text": game.write_games([record]), "filename": f"{name}.pgn"}
    plain: dict[str, Any] = {"start": start} if start else {}
    plain |= {"moves": _plain(board, start)["moves"], "result": RESULT_TEXTS[value]}
    return {"text": json.dumps(plain) + "\n", "filename": f"{name}.jsonl"}
