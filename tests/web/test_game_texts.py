"""Games that people paste and save."""

import io
import json

import chess.pgn
import pytest

from rookery.base import RookeryError
from rookery.games import load_game
from rookery.interface.web.game_texts import read_game, write_game

CHESS, CONNECT4 = load_game("chess"), load_game("connect4")
FEN = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"


@pytest.mark.parametrize(
    "text",
    [
        "1. e4 e5 2. Nf3 *",
        "e4 e5 Nf3",
        "e2e4 e7e5 g1f3",
        "startpos moves e2e4 e7e5 g1f3",
        '[Event "x"]\n[White "A"]\n\n1. e4 {best} e5 (1... c5 2. c3) 2. Nf3! 1-0\n\n1. d4 *',
        '{"moves": ["e4", "e5", "g1f3"], "result": "*"}',
        "\ufeff  1.e4 e5 2.Nf3\n",
    ],
)
def test_chess_is_read_in_every_form(text: str) -> None:
    found = read_game(CHESS, text)
    assert (found["start"], found["moves"]) == ("", ["e2e4", "e7e5", "g1f3"])


def test_a_position_is_read_with_its_moves() -> None:
    assert read_game(CHESS, FEN) == {"start": FEN, "moves": []}
    assert read_game(CHESS, f"{FEN} moves e2e4") == {"start": FEN, "moves": ["e2e4"]}
    pgn = f'[SetUp "1"]\n[FEN "{FEN}"]\n\n1. e4 *'
    assert read_game(CHESS, pgn) == {"start": FEN, "moves": ["e2e4"], "headers": {}}


@pytest.mark.parametrize("text", ["4453", "4 4 5 3", "1. 4 4 2. 5 3", '{"moves": list("4453")}'])
def test_moves_of_other_games_are_read(text: str) -> None:
    text = text.replace('list("4453")', '["4", "4", "5", "3"]')
    assert read_game(CONNECT4, text) == {"start": "", "moves": list("4453")}


@pytest.mark.parametrize(
    "text",
    [
        "9",
        "{",
        '{"moves": 4}',
        '{"moves": [4]}',
        '{"start": [], "moves": []}',
        "4444444",
        "[" * 9999,
        '{"moves": ' + "[" * 9999,
    ],
    ids=lambda text: text[:12],
)
def test_what_is_no_game_is_an_error(text: str) -> None:
    with pytest.raises(RookeryError):
        read_game(CONNECT4, text)
    with pytest.raises(RookeryError):
        read_game(CHESS, text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("nonsense", "unexpected 'n'"),
        ("9 9", "no game"),
        ("1. e4 e5 2. Ke5", "'Ke5' is not a legal move"),
        ("8/8/8/8/8/8/8/8 w - - 0 1", "king"),
    ],
)
def test_a_text_that_is_no_chess_says_what_may_be_pasted(text: str, reason: str) -> None:
    with pytest.raises(RookeryError, match=reason) as found:
        read_game(CHESS, text)
    assert "a FEN, a PGN, moves such as e4 e5" in str(found.value)
    assert "file" not in str(found.value)


def test_other_games_say_how_their_moves_look() -> None:
    with pytest.raises(RookeryError, match=r"got 'nonsense'; .* moves such as 1 one"):
        read_game(CONNECT4, "nonsense")


def test_pgn_is_written_for_other_programs() -> None:
    written = write_game(CHESS, FEN, ["e2e4", "e8e7"], "1/2-1/2")
    other = chess.pgn.read_game(io.StringIO(written["text"]))
    assert other is not None and written["filename"] == "chess.pgn"
    assert other.board().fen() == FEN and other.headers["Result"] == "1/2-1/2"
    assert [move.uci() for move in other.mainline_moves()] == ["e2e4", "e8e7"]
    assert read_game(CHESS, written["text"])["moves"] == ["e2e4", "e8e7"]


def test_other_games_are_saved_as_rookery_saves_them() -> None:
    written = write_game(CONNECT4, "", list("1212121"))
    assert json.loads(written["text"]) == {"moves": list("1212121"), "result": "1-0"}
    assert read_game(CONNECT4, written["text"])["moves"] == list("1212121")
    with pytest.raises(RookeryError):
        write_game(CONNECT4, "", ["4"], "2-0")
