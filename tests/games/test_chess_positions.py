"""Chess positions: legal ones agree with python-chess, illegal ones are rejected."""

from typing import Any

import chess
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chess_boards import OurBoard, PythonBoard
from rookery.base import IllegalPosition
from rookery.games import load_game

CHESS = load_game("chess")
CASTLING_SQUARES = {"K": (chess.E1, chess.H1), "Q": (chess.E1, chess.A1)}
CASTLING_SQUARES |= {"k": (chess.E8, chess.H8), "q": (chess.E8, chess.A8)}
PIECES = [chess.Piece.from_symbol(letter) for letter in "PPPPNBRQppppnbrq"]
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
"""What our reader checks, too. It does not check whether a check could have arisen in a game."""


@st.composite
def placements(draw: Any) -> chess.Board:
    """Draw two kings and random pieces, with castling rights and an en passant square at times."""
    board = chess.Board(None)
    board.turn = draw(st.booleans())
    can_castle = draw(st.booleans())
    squares = draw(st.permutations(range(64)))
    for square, piece in zip(
        squares, draw(st.lists(st.sampled_from(PIECES), max_size=20)), strict=False
    ):
        board.set_piece_at(square, piece)
    if draw(st.booleans()):
        double_push(board, draw(st.integers(0, 6)), is_right=draw(st.booleans()))
    if can_castle:
        for square in draw(st.sets(st.sampled_from([chess.A1, chess.H1, chess.A8, chess.H8]))):
            board.set_piece_at(square, chess.Piece(chess.ROOK, square < chess.A2))
    kings = (chess.E1, chess.E8) if can_castle else squares[-2:]
    for king, colour in zip(kings, chess.COLORS, strict=True):
        board.set_piece_at(king, chess.Piece(chess.KING, colour))
    rights = [letter for letter in "KQkq" if _may_castle(board, letter) and draw(st.booleans())]
    board.set_castling_fen("".join(rights) or "-")
    passed = [square for square in range(64) if _was_passed(board, square)]
    board.ep_square = draw(st.sampled_from([*passed, None]))
    board.halfmove_clock = draw(st.integers(0, 101))
    return board


def double_push(board: chess.Board, file: int, *, is_right: bool) -> None:
    """Place two adjacent pawns; that of the opponent has just made a double push."""
    ranks = (4, 5, 6) if board.turn else (3, 2, 1)
    files = (file, file + 1) if is_right else (file + 1, file)
    for rank in ranks[1:]:
        board.remove_piece_at(chess.square(files[0], rank))
    board.set_piece_at(chess.square(files[0], ranks[0]), chess.Piece(chess.PAWN, not board.turn))
    board.set_piece_at(chess.square(files[1], ranks[0]), chess.Piece(chess.PAWN, board.turn))


def _may_castle(board: chess.Board, letter: str) -> bool:
    king, rook = CASTLING_SQUARES[letter]
    piece = board.piece_at(rook)
    is_rook = piece == chess.Piece(chess.ROOK, letter.isupper())
    return is_rook and board.king(letter.isupper()) == king


def _was_passed(board: chess.Board, square: int) -> bool:
    """Return whether a pawn of the opponent may just have passed `square`."""
    rank, ahead = (5, -8) if board.turn else (2, 8)
    if chess.square_rank(square) != rank or board.piece_at(square):
        return False
    pawn = board.piece_at(square + ahead)
    return pawn == chess.Piece(chess.PAWN, not board.turn) and not board.piece_at(square - ahead)


def has_surplus(board: chess.Board) -> bool:
    """Return whether a side has more pieces than promotions allow; we reject these as well."""
    counts = {"n": 2, "b": 2, "r": 2, "q": 1}
    for colour in chess.COLORS:
        letters = [p.symbol().lower() for p in board.piece_map().values() if p.color == colour]
        promoted = sum(max(0, letters.count(letter) - most) for letter, most in counts.items())
        if promoted + letters.count("p") > 8:
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
        assert CHESS.write_position(ours.state) == board.fen(en_passant="legal")


KINGS = "4k3/8/8/8/8/8/8/4K3"
ILLEGAL = {
    "8 ranks": "4k3/8/8/8/8/8/4K3 w - - 0 1",
    "rank 8": "4k4/8/8/8/8/8/8/4K3 w - - 0 1",
    "rank 1": "4k3/8/8/8/8/8/8/4K2 w - - 0 1",
    "unknown piece 'x'": "4k3/8/8/8/8/8/8/4Kx2 w - - 0 1",
    "unknown piece '0'": "4k3/8/8/80/8/8/8/4K3 w - - 0 1",
    "unknown piece '\u212a'": "4k3/8/8/8/8/8/8/4K2\u212a w - - 0 1",
    "4 to 6 fields, got 3": f"{KINGS} w -",
    "4 to 6 fields, got 7": f"{KINGS} w - - 0 1 2",
    "w or b": f"{KINGS} x - - 0 1",
    "white has 2 kings": "4k3/8/8/8/8/8/8/K3K3 w - - 0 1",
    "black has 0 kings": "8/8/8/8/8/8/8/4K3 w - - 0 1",
    "first or the last rank": "4k2P/8/8/8/8/8/8/4K3 w - - 0 1",
    "9 pawns": "4k3/8/8/8/8/P7/PPPPPPPP/4K3 w - - 0 1",
    "17 pieces": "rnbqkbnr/pppppppp/n7/8/8/8/8/4K3 w - - 0 1",
    "2 promoted pieces": "4k3/8/8/8/8/8/1PPPPPPP/QQQ1K3 w - - 0 1",
    "not to move is in check": "4k3/8/8/8/8/8/8/4K2r b - - 0 1",
    "integers": f"{KINGS} w - - -1 1",
    "below 10000": f"{KINGS} w - - 0 {'9' * 5000}",
    "got '0' and '\u0663'": f"{KINGS} w - - 0 \u0663",
    "at most 150, got 151": f"{KINGS} w - - 151 200",
    "rights from KQkq": f"{KINGS} w KX - 0 1",
    "castling K: king or rook": f"{KINGS} w K - 0 1",
    "castling q: king or rook": "r2k4/8/8/8/8/8/8/4K3 w q - 0 1",
    "square on rank 6, got 'e3'": "4k3/8/8/8/4P3/8/8/4K3 w - e3 0 1",
    "square on rank 3, got 'e9'": "4k3/8/8/8/4P3/8/8/4K3 b - e9 0 1",
    "no pawn has just passed d3": "4k3/8/8/8/4P3/8/8/4K3 b - d3 0 1",
    "no pawn has just passed e3": "4k3/8/8/8/4P3/8/4N3/4K3 b - e3 0 1",
}


@pytest.mark.parametrize(("words", "fen"), ILLEGAL.items())
def test_illegal_positions_are_rejected_in_one_line(words: str, fen: str) -> None:
    with pytest.raises(IllegalPosition) as caught:
        CHESS.position(fen)
    assert words in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    ["", "e2e5", "e7e5", "e2", "Ke2", "e4e5", "O-O", "Nd2", "i2i4", "e2e4q", "exd5", "=Q", "Nxf3"],
)
def test_illegal_moves_are_rejected(text: str) -> None:
    with pytest.raises(IllegalPosition, match="is not a legal move here"):
        CHESS.read_move(CHESS.position(""), text)


def test_no_move_is_legal_after_the_end() -> None:
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
def test_variants_of_san_are_read(fen: str, text: str, uci: str) -> None:
    state = CHESS.position(fen)
    action = CHESS.read_move(state, text)
    assert CHESS.write_move(state, action) == uci


def test_an_ambiguous_move_is_rejected() -> None:
    with pytest.raises(IllegalPosition):
        CHESS.read_move(CHESS.position("4k3/8/8/8/8/8/R6R/4K3 w - -"), "Rb2")


def test_a_check_by_two_knights_can_only_be_evaded_by_the_king() -> None:
    fen = "4n2k/2K5/3N4/1n6/8/8/8/8 w - - 0 1"
    assert OurBoard(fen).moves() == PythonBoard(fen).moves()


def key(text: str) -> int:
    return int(CHESS.rules.key(CHESS.position(text)))


def test_keys_depend_on_side_and_castling_rights() -> None:
    board = "r3k2r/8/8/8/8/8/8/R3K2R"
    keys = {key(f"{board} {side} {rights} -") for side in "wb" for rights in ("KQkq", "Qkq", "-")}
    assert len(keys) == 6
    assert key(f"{board} w KQkq - 0 1") == key(f"{board} w KQkq - 40 77"), (
        "the counts do not matter"
    )


def test_the_en_passant_square_counts_only_if_a_pawn_can_capture_there() -> None:
    after = "startpos moves e2e4 a7a6 e4e5 "
    assert key(after + "d7d5") != key("rnbqkbnr/1pp1pppp/p7/3pP3/8/8/PPPP1PPP/RNBQKBNR w KQkq -")
    no_capturer = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq"
    assert key(f"{no_capturer} e3") == key(f"{no_capturer} -") == key("startpos moves e2e4")
    pinned = "4k3/8/8/K2pP2r/8/8/8/8 w -"
    assert key(f"{pinned} d6") == key(f"{pinned} -"), "two pawns leave the rank at once"


def test_capturing_a_rook_removes_its_castling_right() -> None:
    state = CHESS.position("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - moves a1a8")
    assert CHESS.write_position(state) == "R3k2r/8/8/8/8/8/8/4K2R b Kk - 0 1"


def test_a_king_move_removes_castling_rights() -> None:
    text = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - moves e1e2 e8e7 e2e1 e7e8"
    assert " w - - 4 3" in CHESS.write_position(CHESS.position(text))
