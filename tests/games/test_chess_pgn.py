"""PGN agrees with python-chess in reading and writing."""

import io

import chess
import chess.pgn
import pytest

from chess_boards import STARTS, TASTES, OurBoard, choose
from rookery.base import IllegalPosition, generator
from rookery.games import DRAW, LOSS, ONGOING, WIN, GameRecord, load_game

CHESS = load_game("chess")
read_games, write_games = CHESS.read_games, CHESS.write_games
ANNOTATED = """\
[Event "A \\"great\\" one"]
[White "Anderssen"]
[Black "Kieseritzky"]

1.e4 e5 {the king's (sic) pawn} 2. f4 $1 exf4 ; accepted
3. Bc4 (3. Nf3 g5 (3... d6 4. d4) 4. h4 {or not}) 3... Qh4+!? 4.Kf1 b5?! 5 Bxb5
% an escape to be ignored: 5... a6
Nf6 6. Ngf3 1-0

[Event "second"]
[SetUp "1"]
[FEN "4k3/P7/8/8/8/8/8/4K3 w - - 0 30"]

30. a8Q+ Kd7 31. 0-0-0x *
"""


def random_record(index: int, plies: int) -> GameRecord:
    fen = STARTS[index % len(STARTS)]
    board, stream = OurBoard(fen), generator(2, "pgn", index)
    actions: list[int] = []
    while board.outcome() == ONGOING and len(actions) < plies:
        taste = TASTES[index % len(TASTES)]
        actions.append(choose(board.state, board.actions(), taste, 0, stream))
        board.make(actions[-1])
    result = board.outcome()
    white = result if result == ONGOING or not board.state.black else -result
    start = "" if fen == chess.STARTING_FEN else fen
    names = {"White": 'A "quoted" \\ name', "Black": "B", "Round": str(index)}
    return GameRecord(tuple(actions), white, start, names)


RECORDS = [random_record(index, 120) for index in range(10)]


def test_games_are_read_as_they_were_written() -> None:
    found = read_games(write_games(RECORDS))
    for record, back in zip(RECORDS, found, strict=True):
        assert (back.actions, back.result, back.start) == (
            record.actions,
            record.result,
            record.start,
        )
        assert back.headers["White"] == record.headers["White"]


def test_python_chess_reads_what_we_write() -> None:
    text = write_games(RECORDS)
    assert all(len(line) < 80 for line in text.splitlines() if not line.startswith("[FEN"))
    stream = io.StringIO(text)
    for record in RECORDS:
        found = chess.pgn.read_game(stream)
        assert found is not None and not found.errors
        board = OurBoard(record.start or chess.STARTING_FEN)
        moves = list(found.mainline_moves())
        assert len(moves) == len(record.actions)
        for move, action in zip(moves, record.actions, strict=True):
            assert move.uci() == board.write(action)
            board.make(action)
        assert found.end().board().fen() == CHESS.write_position(board.state)
        assert found.headers["Round"] == record.headers["Round"]
        results = {WIN: "1-0", LOSS: "0-1", DRAW: "1/2-1/2", ONGOING: "*"}
        assert found.headers["Result"] == results[record.result]
    assert chess.pgn.read_game(stream) is None


def test_we_read_what_python_chess_writes() -> None:
    written = []
    for record in RECORDS:
        root = chess.pgn.Game()
        node: chess.pgn.GameNode = root
        if record.start:
            root.setup(record.start)
        board = OurBoard(record.start or chess.STARTING_FEN)
        for action in record.actions:
            move = chess.Move.from_uci(board.write(action))
            if len(node.board().move_stack) % 7 == 3:
                node.add_variation(next(iter(node.board().legal_moves)), comment="aside")
            node = node.add_main_variation(move, comment="a (b) [c] 1-0", nags=[3])
            board.make(action)
        written.append(str(root))
    found = read_games("\n\n".join(written))
    assert [record.actions for record in found] == [record.actions for record in RECORDS]


def test_annotated_games_are_read() -> None:
    text = ANNOTATED.replace(" 31. 0-0-0x", "")
    first, second = read_games(text)
    assert first.result == WIN and second.result == ONGOING
    assert first.headers["Event"] == 'A "great" one'
    state = CHESS.position("")
    for action in first.actions:
        CHESS.rules.play(state, action)
    expected = "rnb1kb1r/p1pp1ppp/5n2/1B6/4Pp1q/5N2/PPPP2PP/RNBQ1K1R b kq - 2 6"
    assert CHESS.write_position(state) == expected
    assert second.start.startswith("4k3/P7") and len(second.actions) == 2


def test_a_game_without_a_result_ends_where_the_next_begins() -> None:
    first, second = read_games('[Event "x"]\n1. e4\n[Event "y"]\n1. d4 d5 1/2-1/2')
    assert (len(first.actions), first.result) == (1, ONGOING)
    assert (len(second.actions), second.result) == (2, DRAW)


def test_a_game_may_continue_after_fifty_moves() -> None:
    text = '[FEN "4k3/8/8/8/8/8/8/R3K3 w - - 99 80"]\n80. Ra2 Kd7 81. Ra1 *'
    assert len(read_games(text)[0].actions) == 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (ANNOTATED, "game 2, move 31: '0-0-0x' is not a legal move"),
        ("1. e4 e5 2. Ke3 *", "game 1, move 2: 'Ke3' is not a legal move"),
        ("1. e4 {never closed", "unexpected '{'"),
        ("1. e4 ) e5", "unexpected ')'"),
        ('1. e4 (1. d4 e5 1-0\n\n[Event "b"]\n\n1. e4 1-0', "a variation opened by '('"),
        ("1. e4 d5 2. d5 *", "game 1, move 2: 'd5' is not a legal move"),
        ("1. e4 xyz", "unexpected 'x'"),
        ('[FEN "8/8/8/8/8/8/8/8 w - - 0 1"]\n*', "0 kings"),
        ("1. -- *", "unexpected '-'"),
    ],
)
def test_invalid_games_are_rejected_in_one_line(text: str, words: str) -> None:
    with pytest.raises(IllegalPosition) as caught:
        read_games(text)
    assert words in str(caught.value) and "\n" not in str(caught.value)


def test_empty_text_has_no_games() -> None:
    assert read_games("") == read_games("\n{only a comment}\n") == []
    assert write_games([]) == ""
