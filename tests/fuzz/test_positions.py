"""Positions and games as text: refused in one line, or read as python-chess reads them."""

import chess
from hypothesis import given
from hypothesis import strategies as st

from fuzzing import cases, mutated, only_clear_errors, words
from rookery.games import load_game

CHESS = load_game("chess")
FENS = (
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 3",
    "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1",
)
PGN = """[Event "?"]
[White "one"]
[Black "other"]
[Result "1-0"]

1. e4 e5 2. Bc4 (2. f4 exf4) Nc6 {a comment} 3. Qh5 $1 Nf6 4. Qxf7# 1-0
"""
PLAIN = {"tictactoe": "51937", "connect4": "4455331"}


def text(content: str) -> st.SearchStrategy[str]:
    return mutated(content.encode()).map(lambda found: found.decode("utf-8", "replace"))


@cases(0.1)
@given(st.sampled_from(sorted(PLAIN)), st.data())
def test_moves_lead_to_a_position_or_are_refused(name: str, data: st.DataObject) -> None:
    written = data.draw(text(PLAIN[name]) | words)
    game = load_game(name)
    with only_clear_errors():
        state = game.position(written)
        assert game.position(game.write_position(state)) == state


@cases(0.2)
@given(st.sampled_from(FENS).flatmap(text) | words)
def test_a_position_of_chess_has_the_moves_that_python_chess_finds(fen: str) -> None:
    with only_clear_errors():
        state = CHESS.position(fen)
        theirs = chess.Board(CHESS.write_position(state))
        ours = {CHESS.write_move(state, action) for action in CHESS.legal_actions(state)}
        assert ours == {move.uci() for move in theirs.legal_moves}


@cases(0.1)
@given(text(PGN) | words)
def test_a_file_of_games_is_read_or_refused(pgn: str) -> None:
    with only_clear_errors():
        for record in CHESS.read_games(pgn):
            CHESS.replay(record.actions)
