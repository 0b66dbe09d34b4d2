"""PGN: python-chess reads what we write, and we read what it writes."""

import io

import chess
import chess.pgn
import pytest

from chess_boards import STARTS, TASTES, OurBoard, choose
from rookery.base import IllegalPosition, generator
from rookery.games import DRAW, LOSS, ONGOING, WIN, ScoreSheet, load_game

CHESS = load_game("chess")
read_games, write_games = CHESS.module.read_games, CHESS.module.write_games
MANY_HANDS = """\
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


def random_sheet(index: int, plies: int) -> ScoreSheet:
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
    return ScoreSheet(tuple(actions), white, start, names)


SHEETS = [random_sheet(index, 120) for index in range(10)]


def test_games_are_read_as_they_were_written() -> None:
    found = read_games(write_games(SHEETS))
    for sheet, back in zip(SHEETS, found, strict=True):
        assert (back.actions, back.result, back.start) == (sheet.actions, sheet.result, sheet.start)
        assert back.headers["White"] == sheet.headers["White"]


def test_python_chess_reads_what_we_write() -> None:
    text = write_games(SHEETS)
    assert all(len(line) < 80 for line in text.splitlines() if not line.startswith("[FEN"))
    stream = io.StringIO(text)
    for sheet in SHEETS:
        found = chess.pgn.read_game(stream)
        assert found is not None and not found.errors
        board = OurBoard(sheet.start or chess.STARTING_FEN)
        moves = list(found.mainline_moves())
        assert len(moves) == len(sheet.actions)
        for move, action in zip(moves, sheet.actions, strict=True):
            assert move.uci() == board.write(action)
            board.make(action)
        assert found.end().board().fen() == CHESS.module.write_position(board.state)
        assert found.headers["Round"] == sheet.headers["Round"]
        results = {WIN: "1-0", LOSS: "0-1", DRAW: "1/2-1/2", ONGOING: "*"}
        assert found.headers["Result"] == results[sheet.result]
    assert chess.pgn.read_game(stream) is None


def test_we_read_what_python_chess_writes() -> None:
    written = []
    for sheet in SHEETS:
        node: chess.pgn.GameNode = chess.pgn.Game()
        root = node
        if sheet.start:
            root.setup(sheet.start)
        board = OurBoard(sheet.start or chess.STARTING_FEN)
        for action in sheet.actions:
            move = chess.Move.from_uci(board.write(action))
            if len(node.board().move_stack) % 7 == 3:
                node.add_variation(next(iter(node.board().legal_moves)), comment="aside")
            node = node.add_main_variation(move, comment="a (b) [c] 1-0", nags=[3])
            board.make(action)
        written.append(str(root))
    found = read_games("\n\n".join(written))
    assert [sheet.actions for sheet in found] == [sheet.actions for sheet in SHEETS]


def test_games_are_read_in_many_hands() -> None:
    text = MANY_HANDS.replace(" 31. 0-0-0x", "")
    first, second = read_games(text)
    assert first.result == WIN and second.result == ONGOING
    assert first.headers["Event"] == 'A "great" one'
    state = CHESS.position("")
    for action in first.actions:
        CHESS.rules.play(state, action)
    expected = "rnb1kb1r/p1pp1ppp/5n2/1B6/4Pp1q/5N2/PPPP2PP/RNBQ1K1R b kq - 2 6"
    assert CHESS.module.write_position(state) == expected
    assert second.start.startswith("4k3/P7") and len(second.actions) == 2


def test_a_game_without_a_result_ends_where_the_next_begins() -> None:
    first, second = read_games('[Event "x"]\n1. e4\n[Event "y"]\n1. d4 d5 1/2-1/2')
    assert (len(first.actions), first.result) == (1, ONGOING)
    assert (len(second.actions), second.result) == (2, DRAW)


def test_a_game_goes_on_where_nobody_claims_the_draw() -> None:
    text = '[FEN "4k3/8/8/8/8/8/8/R3K3 w - - 99 80"]\n80. Ra2 Kd7 81. Ra1 *'
    assert len(read_games(text)[0].actions) == 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (MANY_HANDS, "game 2, move 31: '0-0-0x' is not a legal move"),
        ("1. e4 e5 2. Ke3 *", "game 1, move 2: 'Ke3' is not a legal move"),
        ("1. e4 {never closed", "'{' stands where"),
        ("1. e4 ) e5", "')' stands where"),
        ('1. e4 (1. d4 e5 1-0\n\n[Event "b"]\n\n1. e4 1-0', "a variation begins by '('"),
        ("1. e4 d5 2. d5 *", "game 1, move 2: 'd5' is not a legal move"),
        ("1. e4 xyz", "'x' stands where"),
        ('[FEN "8/8/8/8/8/8/8/8 w - - 0 1"]\n*', "0 kings"),
        ("1. -- *", "'-' stands where"),
    ],
)
def test_bad_games_are_refused_in_one_line(text: str, words: str) -> None:
    with pytest.raises(IllegalPosition) as caught:
        read_games(text)
    assert words in str(caught.value) and "\n" not in str(caught.value)


def test_nothing_has_no_games() -> None:
    assert read_games("") == read_games("\n{only a comment}\n") == []
    assert write_games([]) == ""
