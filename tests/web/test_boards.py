"""Positions as the page shows them: cells, pieces, and the cells of every legal move."""

import re
from pathlib import Path
from typing import Any

import chess
import pytest

from rookery.api import Board
from rookery.games import Game, load_game
from rookery.interface.web.boards import compare, view_of

ROOT = Path(__file__).parents[2]
MOVES_CELLS = "abcdefgh"


def view(game: Game | str, *moves: str, start: str = "") -> dict[str, Any]:
    board = Board(game, start)
    for move in moves:
        board.push(move)
    return view_of(board, "a game")


def cells(shown: dict[str, Any]) -> dict[str, Any]:
    return {move["move"]: (move["from"], move["to"]) for move in shown["moves"]}


@pytest.fixture(scope="module")
def hexapawn(tmp_path_factory: pytest.TempPathFactory) -> Game:
    """The game of docs/own-game.md, which says nothing about cells."""
    page = (ROOT / "docs/own-game.md").read_text()
    (rules,) = re.findall(r'^```python\n("""Hexapawn.*?)^```$', page, re.DOTALL | re.MULTILINE)
    path = tmp_path_factory.mktemp("rules") / "hexapawn.py"
    path.write_text(rules)
    return load_game(str(path))


def test_connect4_drops_stones_into_columns() -> None:
    shown = view("connect4", "4", "4", "1")
    assert (shown["width"], shown["height"], shown["turn"], shown["drops"]) == (7, 6, 1, True)
    assert shown["rows"][5] == ("X", "", "", "X", "", "", "") and shown["rows"][4][3] == "O"
    assert cells(shown)["4"] == (None, (3, 3)) and cells(shown)["7"] == (None, (6, 5))
    assert shown["last"] == {"from": None, "to": (0, 5)} and shown["changed"] == [(0, 5)]
    assert shown["column_labels"] == tuple("1234567") and shown["pieces"]["O"]["player"] == 1


def test_numbers_of_empty_cells_are_no_pieces() -> None:
    shown = view("tictactoe", "5", "1")
    assert shown["rows"] == (("O", "", ""), ("", "X", ""), ("", "", ""))
    assert cells(shown)["9"] == (None, (2, 2)) and not shown["drops"]


def test_the_end_of_a_game_is_told() -> None:
    shown = view("tictactoe", *"5123")
    assert not shown["over"] and shown["outcome"] is None and shown["result_text"] == ""
    shown = view("tictactoe", *"15243")
    assert shown["over"] and shown["outcome"] == 1 and shown["moves"] == []
    assert shown["result_text"] == "First player wins"
    mate = view("chess", "f3", "e5", "g4", "Qh4#")
    assert mate["outcome"] == -1 and mate["result_text"] == "Checkmate: Black wins"


@pytest.mark.parametrize(
    "fen",
    [
        chess.STARTING_FEN,
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8",
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 b - - 0 1",
        "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3",
    ],
)
def test_chess_moves_are_those_of_another_library(fen: str) -> None:
    shown, other = view("chess", start=fen), chess.Board(fen)
    assert {move["move"] for move in shown["moves"]} == {move.uci() for move in other.legal_moves}
    for move in shown["moves"]:
        found = chess.Move.from_uci(move["move"])
        origin = chess.square_file(found.from_square), 7 - chess.square_rank(found.from_square)
        target = chess.square_file(found.to_square), 7 - chess.square_rank(found.to_square)
        assert (move["from"], move["to"]) == (origin, target)
        assert move["label"] == other.san(found)
        assert move.get("promotion") == (found.uci()[4:] or None)
    placed = {
        chess.square(x, 7 - y): sign
        for y, row in enumerate(shown["rows"])
        for x, sign in enumerate(row)
        if sign
    }
    assert placed == {square: piece.symbol() for square, piece in other.piece_map().items()}
    assert shown["turn"] == (not other.turn) and shown["colors"]


def test_an_own_game_needs_no_further_lines(hexapawn: Game) -> None:
    shown = view(hexapawn)
    assert shown["rows"] == (("O", "O", "O"), ("", "", ""), ("X", "X", "X"))
    assert cells(shown) == {
        "74": ((0, 2), (0, 1)),
        "85": ((1, 2), (1, 1)),
        "96": ((2, 2), (2, 1)),
    }
    after = view(hexapawn, "74")
    assert after["last"] == {"from": (0, 2), "to": (0, 1)} and after["turn"] == 1
    assert cells(after)["24"] == ((1, 0), (0, 1))  # a capture


def test_othello_finds_the_cell_among_the_flipped_ones() -> None:
    import othello6

    game = load_game(othello6)
    shown = view(game)
    for move in shown["moves"]:
        x, y = move["to"]
        assert move["from"] is None and shown["rows"][y][x] == ""
        assert move["move"] == f"{MOVES_CELLS[x]}{y + 1}"


def test_rules_may_say_the_board_and_the_cells_themselves(hexapawn: Game, tmp_path: Path) -> None:
    lines = """
def board(state):
    return [["pawn" if cell else "." for cell in state.board[row : row + 3]] for row in (0, 3, 6)]


def move_cells(state, action):
    return (0, 0), (99, 0)
"""
    path = tmp_path / "told.py"
    path.write_text(hexapawn.source.decode() + lines)
    shown = view(load_game(str(path)))
    assert shown["rows"][0] == ("pawn", "pawn", "pawn") and shown["rows"][1] == ("", "", "")
    assert set(cells(shown).values()) == {((0, 0), None)}  # the second cell is off the board
    assert shown["pieces"]["pawn"] == {"kind": "text", "player": None, "name": "pawn"}


def test_a_game_without_a_grid_has_moves_without_cells() -> None:
    game = load_game(str(ROOT / "examples/nim.py"))
    shown = view(game)
    assert (shown["width"], shown["height"], shown["rows"]) == (0, 0, ())
    assert all(ends == (None, None) for ends in cells(shown).values()) and shown["text"]


def test_a_move_that_changes_nothing_is_the_pass() -> None:
    board = (("X", ""), ("", "O"))
    assert compare(board, board) == (None, None)
    assert compare((("a", "b", ""),), (("", "", "a"),)) == ((0, 0), (2, 0))  # jumped over b
    assert compare((("a", "", ""), ("", "B", "")), (("", "", ""), ("", "a", ""))) == (
        (0, 0),
        (1, 1),
    )
