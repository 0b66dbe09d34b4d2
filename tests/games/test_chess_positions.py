"""Chess positions nobody has played: legal ones agree with python-chess, others are refused."""

from typing import Any

import chess
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chess_boards import OurBoard, PythonBoard
from rookery.base import IllegalPosition
from rookery.games import load_game

CHESS = load_game("chess")
HOMES = {"K": (chess.E1, chess.H1), "Q": (chess.E1, chess.A1)}
HOMES |= {"k": (chess.E8, chess.H8), "q": (chess.E8, chess.A8)}
MEN = [chess.Piece.from_symbol(letter) for letter in "PPPPNBRQppppnbrq"]
CHECKED = (
    chess.STATUS_NO_WHITE_KING
    | chess.STATUS_NO_BLACK_KING
    | chess.STATUS_TOO_MANY_KINGS
    | chess.STATUS_TOO_MANY_WHITE_PAWNS
    | chess.STATUS_TOO_MANY_BLACK_PAWNS
    | chess.STATUS_TOO_MANY_WHITE_PIECES
    | chess.STATUS_TOO_MANY_BLACK_PIECES
    | chess.STATUS_PAWNS_ON_BACKRANK
    | chess.STATUS_BAD_CASTLING_RIGHTS
    | chess.STATUS_INVALID_EP_SQUARE
    | chess.STATUS_OPPOSITE_CHECK
    | chess.STATUS_EMPTY
)
"""What we check, too; whether a check could have come about is left to who writes a position."""


@st.composite
def placements(draw: Any) -> chess.Board:
    """Two kings and some men anywhere, rights and a passed square now and then."""
    board = chess.Board(None)
    board.turn = draw(st.booleans())
    is_home = draw(st.booleans())
    squares = draw(st.permutations(range(64)))
    for square, man in zip(
        squares, draw(st.lists(st.sampled_from(MEN), max_size=20)), strict=False
    ):
        board.set_piece_at(square, man)
    if draw(st.booleans()):
        jump(board, draw(st.integers(0, 6)), is_right=draw(st.booleans()))
    if is_home:
        for square in draw(st.sets(st.sampled_from([chess.A1, chess.H1, chess.A8, chess.H8]))):
            board.set_piece_at(square, chess.Piece(chess.ROOK, square < chess.A2))
    kings = (chess.E1, chess.E8) if is_home else squares[-2:]
    for king, colour in zip(kings, chess.COLORS, strict=True):
        board.set_piece_at(king, chess.Piece(chess.KING, colour))
    rights = [letter for letter in "KQkq" if _may_castle(board, letter) and draw(st.booleans())]
    board.set_castling_fen("".join(rights) or "-")
    passed = [square for square in range(64) if _was_passed(board, square)]
    board.ep_square = draw(st.sampled_from([*passed, None]))
    board.halfmove_clock = draw(st.integers(0, 101))
    return board


def jump(board: chess.Board, file: int, *, is_right: bool) -> None:
    """Two pawns side by side, of which the waiting one has just made a double step."""
    ranks = (4, 5, 6) if board.turn else (3, 2, 1)
    files = (file, file + 1) if is_right else (file + 1, file)
    for rank in ranks[1:]:
        board.remove_piece_at(chess.square(files[0], rank))
    board.set_piece_at(chess.square(files[0], ranks[0]), chess.Piece(chess.PAWN, not board.turn))
    board.set_piece_at(chess.square(files[1], ranks[0]), chess.Piece(chess.PAWN, board.turn))


def _may_castle(board: chess.Board, letter: str) -> bool:
    king, rook = HOMES[letter]
    piece = board.piece_at(rook)
    is_rook = piece == chess.Piece(chess.ROOK, letter.isupper())
    return is_rook and board.king(letter.isupper()) == king


def _was_passed(board: chess.Board, square: int) -> bool:
    """Whether the waiting side's pawn may just have jumped over `square`."""
    rank, ahead = (5, -8) if board.turn else (2, 8)
    if chess.square_rank(square) != rank or board.piece_at(square):
        return False
    pawn = board.piece_at(square + ahead)
    return pawn == chess.Piece(chess.PAWN, not board.turn) and not board.piece_at(square - ahead)


def has_surplus(board: chess.Board) -> bool:
    """Whether a side has more men than its pawns can have become: we refuse these as well."""
    counts = {"n": 2, "b": 2, "r": 2, "q": 1}
    for colour in chess.COLORS:
        letters = [p.symbol().lower() for p in board.piece_map().values() if p.color == colour]
        grown = sum(max(0, letters.count(letter) - most) for letter, most in counts.items())
        if grown + letters.count("p") > 8:
            return True
    return False


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(placements())
def test_placements_agree_with_python_chess(board: chess.Board) -> None:
    fen = board.fen(en_passant="fen")
    if board.status() & CHECKED or has_surplus(board):
        with pytest.raises(IllegalPosition):
            CHESS.position(fen)
    elif board.is_valid():
        ours, other = OurBoard(fen), PythonBoard(fen)
        assert ours.outcome() == other.outcome()
        if any(board.legal_moves):
            assert ours.moves() == other.moves()
        assert CHESS.module.write_position(ours.state) == board.fen(en_passant="legal")


KINGS = "4k3/8/8/8/8/8/8/4K3"
REFUSED = {
    "8 ranks": "4k3/8/8/8/8/8/4K3 w - - 0 1",
    "rank 8": "4k4/8/8/8/8/8/8/4K3 w - - 0 1",
    "rank 1": "4k3/8/8/8/8/8/8/4K2 w - - 0 1",
    "no piece is written 'x'": "4k3/8/8/8/8/8/8/4Kx2 w - - 0 1",
    "no piece is written '0'": "4k3/8/8/80/8/8/8/4K3 w - - 0 1",
    "no piece is written '\u212a'": "4k3/8/8/8/8/8/8/4K2\u212a w - - 0 1",
    "4 to 6 fields, got 3": f"{KINGS} w -",
    "4 to 6 fields, got 7": f"{KINGS} w - - 0 1 2",
    "w or b": f"{KINGS} x - - 0 1",
    "white has 2 kings": "4k3/8/8/8/8/8/8/K3K3 w - - 0 1",
    "black has 0 kings": "8/8/8/8/8/8/8/4K3 w - - 0 1",
    "first or the last rank": "4k2P/8/8/8/8/8/8/4K3 w - - 0 1",
    "9 pawns": "4k3/8/8/8/8/P7/PPPPPPPP/4K3 w - - 0 1",
    "17 men": "rnbqkbnr/pppppppp/n7/8/8/8/8/4K3 w - - 0 1",
    "2 that pawns became": "4k3/8/8/8/8/8/1PPPPPPP/QQQ1K3 w - - 0 1",
    "not to move is in check": "4k3/8/8/8/8/8/8/4K2r b - - 0 1",
    "whole numbers": f"{KINGS} w - - -1 1",
    "below 10000": f"{KINGS} w - - 0 {'9' * 5000}",
    "got '0' and '\u0663'": f"{KINGS} w - - 0 \u0663",
    "too many": f"{KINGS} w - - 151 200",
    "some of KQkq": f"{KINGS} w KX - 0 1",
    "castling K: king and rook": f"{KINGS} w K - 0 1",
    "castling q: king and rook": "r2k4/8/8/8/8/8/8/4K3 w q - 0 1",
    "square of rank 6, got 'e3'": "4k3/8/8/8/4P3/8/8/4K3 w - e3 0 1",
    "square of rank 3, got 'e9'": "4k3/8/8/8/4P3/8/8/4K3 b - e9 0 1",
    "no pawn has just passed d3": "4k3/8/8/8/4P3/8/8/4K3 b - d3 0 1",
    "no pawn has just passed e3": "4k3/8/8/8/4P3/8/4N3/4K3 b - e3 0 1",
}


@pytest.mark.parametrize(("words", "fen"), REFUSED.items())
def test_bad_positions_are_refused_in_one_line(words: str, fen: str) -> None:
    with pytest.raises(IllegalPosition) as caught:
        CHESS.position(fen)
    assert words in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    ["", "e2e5", "e7e5", "e2", "Ke2", "e4e5", "O-O", "Nd2", "i2i4", "e2e4q", "exd5", "=Q", "Nxf3"],
)
def test_bad_moves_are_refused(text: str) -> None:
    with pytest.raises(IllegalPosition, match="is not a legal move here"):
        CHESS.module.read_move(CHESS.position(""), text)


def test_no_move_follows_the_end() -> None:
    with pytest.raises(IllegalPosition, match="the game is over"):
        CHESS.position("startpos moves f2f3 e7e5 g2g4 d8h4 a2a3")


@pytest.mark.parametrize(
    ("fen", "text", "uci"),
    [
        ("", "Ng1f3", "g1f3"),
        ("", "N1f3!", "g1f3"),
        ("4k3/P7/8/8/8/8/8/4K3 w - -", "a8Q", "a7a8q"),
        ("4k3/P7/8/8/8/8/8/4K3 w - -", "a8=N", "a7a8n"),
        ("r3k2r/8/8/8/8/8/8/R3K2R b KQkq -", "0-0-0", "e8c8"),
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq -", "O-O+", "e1g1"),
        ("4k3/8/8/8/8/8/R6R/4K3 w - -", "Rhb2", "h2b2"),
    ],
)
def test_san_is_read_in_many_hands(fen: str, text: str, uci: str) -> None:
    state = CHESS.position(fen)
    action = CHESS.module.read_move(state, text)
    assert CHESS.module.write_move(state, action) == uci


def test_an_ambiguous_move_is_refused() -> None:
    with pytest.raises(IllegalPosition):
        CHESS.module.read_move(CHESS.position("4k3/8/8/8/8/8/R6R/4K3 w - -"), "Rb2")


def key(text: str) -> int:
    return int(CHESS.rules.key(CHESS.position(text)))


def test_positions_are_the_same_only_with_the_same_rights() -> None:
    board = "r3k2r/8/8/8/8/8/8/R3K2R"
    keys = {key(f"{board} {side} {rights} -") for side in "wb" for rights in ("KQkq", "Qkq", "-")}
    assert len(keys) == 6
    assert key(f"{board} w KQkq - 0 1") == key(f"{board} w KQkq - 40 77"), "counts do not matter"


def test_a_passed_square_counts_only_where_it_can_be_taken() -> None:
    after = "startpos moves e2e4 a7a6 e4e5 "
    assert key(after + "d7d5") != key("rnbqkbnr/1pp1pppp/p7/3pP3/8/8/PPPP1PPP/RNBQKBNR w KQkq -")
    nobody = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq"
    assert key(f"{nobody} e3") == key(f"{nobody} -") == key("startpos moves e2e4")
    pinned = "4k3/8/8/K2pP2r/8/8/8/8 w -"
    assert key(f"{pinned} d6") == key(f"{pinned} -"), "two pawns leave the rank at once"


def test_a_rook_taken_at_home_castles_no_more() -> None:
    state = CHESS.position("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - moves a1a8")
    assert CHESS.module.write_position(state) == "R3k2r/8/8/8/8/8/8/4K2R b Kk - 0 1"


def test_kings_that_return_have_lost_their_rights() -> None:
    text = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - moves e1e2 e8e7 e2e1 e7e8"
    assert " w - - 4 3" in CHESS.module.write_position(CHESS.position(text))
