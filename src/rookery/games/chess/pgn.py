"""Read and write chess games in PGN.

Reading skips comments, variations, annotations ($3, !?) and clock times, and accepts moves with
more disambiguation than necessary. Illegal moves and stray text are errors.
"""

import re
from collections.abc import Iterable, Iterator
from textwrap import wrap

import numpy as np

from rookery.base import IllegalPosition
from rookery.games.chess.fen import START
from rookery.games.chess.moves import play
from rookery.games.chess.notation import find_move, read_position, write_san
from rookery.games.chess.position import STATE
from rookery.games.game import ONGOING, RESULT_TEXTS, RESULTS, GameRecord, State

REQUIRED_HEADERS = dict.fromkeys(("Event", "Site", "Date", "Round", "White", "Black"), "?")
REQUIRED_HEADERS["Date"] = "????.??.??"
LINE_WIDTH = 79
TOKEN = re.compile(
    r"""
    (?P<tag> \[ \s* (?P<name>\w+) \s+ "(?P<value>(?:\\.|[^"\\])*)" \s* \] )
    | (?P<skip> \{ [^}]* \} | ; [^\n]* | ^% [^\n]* | \$ \d+ | [.!?]+ | e\.p\. )
    | (?P<number> \d+ \.+ | \d+ (?![^\s.]) )
    | (?P<open> \( ) | (?P<close> \) )
    | (?P<result> 1-0 | 0-1 | 1/2-1/2 | \* )
    | (?P<move> [a-hNBRQKO0] [^\s(){};$\[\]]* )
    | (?P<stray> \S )
    """,
    re.VERBOSE | re.MULTILINE,
)
RawGame = tuple[dict[str, str], list[str], str]
"""Headers, moves and result as text."""


def write_games(records: Iterable[GameRecord]) -> str:
    """Return the games in PGN."""
    return "\n".join(map(_write_game, records))


def _write_game(record: GameRecord) -> str:
    headers = {**REQUIRED_HEADERS, **record.headers, "Result": RESULT_TEXTS[record.result]}
    if record.start not in ("", START):
        headers |= {"SetUp": "1", "FEN": record.start}
    tags = [f'[{name} "{_escape(value)}"]\n' for name, value in headers.items()]
    words = " ".join([*_numbered_moves(record), RESULT_TEXTS[record.result]])
    moves = "\n".join(wrap(words, LINE_WIDTH, break_long_words=False, break_on_hyphens=False))
    return f"{''.join(tags)}\n{moves}\n"


def _escape(value: str) -> str:
    return " ".join(value.split()).replace("\\", "\\\\").replace('"', '\\"')


def _numbered_moves(record: GameRecord) -> Iterator[str]:
    """Yield moves in SAN, with a number before each move of white and before the first move."""
    state = _position(record.start)
    for count, action in enumerate(record.actions):
        number = int(state.ply) // 2 + 1
        if not state.black or count == 0:
            yield f"{number}..." if state.black else f"{number}."
        yield write_san(state, action)
        play(state, action)


def read_games(text: str) -> list[GameRecord]:
    """Return the games of a PGN file; IllegalPosition names the game and the move."""
    return [_read_game(number, *raw) for number, raw in enumerate(_split(text), 1)]


def _split(text: str) -> Iterator[RawGame]:
    """Yield the games unparsed; a game ends with its result or where the next one begins."""
    headers, moves, depth = dict[str, str](), list[str](), 0
    for token in TOKEN.finditer(text.removeprefix("\ufeff")):
        kind = token.lastgroup if token.lastgroup not in ("name", "value") else "tag"
        depth += (kind == "open") - (kind == "close")
        is_end = kind == "result" or (kind == "tag" and bool(moves))
        if depth < 0 or (depth == 0 and kind == "stray"):
            raise IllegalPosition(f"unexpected {token[0]!r} in PGN; fix the file")
        if depth > 0 or kind in ("skip", "number", "close"):
            continue
        if is_end:
            yield headers, moves, token[0] if kind == "result" else headers.get("Result", "*")
            headers, moves = {}, []
        if kind == "tag":
            headers[token["name"]] = re.sub(r"\\(.)", r"\1", token["value"])
        elif kind == "move":
            moves.append(token[0])
    if depth:
        raise IllegalPosition("a variation opened by '(' is not closed; fix the file")
    if headers or moves:
        yield headers, moves, headers.get("Result", "*")


def _read_game(number: int, headers: dict[str, str], moves: list[str], result: str) -> GameRecord:
    start = headers.get("FEN", "")
    state, actions = _position(start), list[int]()
    for move in moves:
        action = find_move(state, move)
        if action is None:
            where = f"game {number}, move {int(state.ply) // 2 + 1}"
            raise IllegalPosition(f"{where}: {move!r} is not a legal move")
        actions.append(action)
        play(state, action)
    others = {name: headers[name] for name in headers if name not in ("FEN", "SetUp", "Result")}
    return GameRecord(tuple(actions), RESULTS.get(result, ONGOING), start, others)


def _position(start: str) -> State:
    state = np.zeros(1, np.dtype((np.record, STATE)))[0]
    read_position(state, start)
    return state
