"""Chess with earlier positions in its planes has the same rules."""

import numpy as np
import pytest

from chess_boards import OurBoard
from rookery.base import UnknownName, generator
from rookery.games import ONGOING, check_game, load_game
from rookery.games.chess.variant import PLANES_PER_POSITION

CHESS, HISTORY = load_game("chess"), load_game("chess:history=3")
PRESENT, REPEATED = CHESS.planes_shape[0], 15


def planes_of(board: OurBoard) -> np.ndarray:
    out = np.full(board.game.planes_shape, 77, np.float32)
    board.game.rules.planes(board.state, out)
    return out


def as_seen_later(planes: np.ndarray, plies: int) -> np.ndarray:
    """Return the pieces and the repetition plane as the player to move sees them `plies` later."""
    pieces = planes[:12]
    if plies % 2:
        pieces = np.concatenate([pieces[6:], pieces[:6]])[:, ::-1]
    return np.concatenate([pieces, planes[REPEATED : REPEATED + 1]])


def test_history_planes_equal_the_earlier_planes() -> None:
    for index in range(3):
        stream, seen = generator(0, "history", index), list[np.ndarray]()
        plain, history = OurBoard(), OurBoard(rules=HISTORY)
        while plain.outcome() == history.outcome() == ONGOING and len(seen) < 60:
            seen.insert(0, planes_of(plain))
            found = planes_of(history)
            assert np.array_equal(found[:PRESENT], seen[0])
            for plies in range(1, 4):
                first = PRESENT + PLANES_PER_POSITION * (plies - 1)
                past = found[first : first + PLANES_PER_POSITION]
                if plies < len(seen):
                    assert np.array_equal(past, as_seen_later(seen[plies], plies))
                else:
                    assert not past.any(), "there is nothing before the start"
            assert plain.actions() == history.actions()
            shuffle = "again" if index else "any"
            action = _pick(plain, shuffle, stream)
            plain.make(action)
            history.make(action)


def _pick(board: OurBoard, taste: str, stream: np.random.Generator) -> int:
    knights = [a for a in board.actions() if board.write(a) in ("g1f3", "f3g1", "g8f6", "f6g8")]
    pool = knights if taste == "again" and knights else board.actions()
    return int(stream.choice(pool))


def test_history_planes_show_repetitions() -> None:
    board = OurBoard(rules=HISTORY)
    for move in ["g1f3", "g8f6", "f3g1", "f6g8", "e2e4"]:
        board.play(move)
    last = planes_of(board)[PRESENT : PRESENT + PLANES_PER_POSITION]
    assert last[12].all(), "the first position was repeated one ply ago"


def test_rules_and_notation_are_those_of_chess() -> None:
    assert HISTORY.name == "chess:history=3" and HISTORY.version == CHESS.version
    assert HISTORY.planes_shape == (16 + 3 * PLANES_PER_POSITION, 8, 8)
    state = HISTORY.position("startpos moves e2e4 e7e5")
    assert CHESS.write_position(state) == HISTORY.write_position(state)
    assert state.past[0].any() and not state.past[2].any()
    fen = HISTORY.write_position(state)
    assert not HISTORY.position(fen).past.any(), "a FEN has no history"
    assert HISTORY.rules.key(state) == CHESS.rules.key(CHESS.position(fen))


def test_variants_pass_every_check() -> None:
    for result in check_game(HISTORY, games=2):
        assert result.passed and not result.is_warning, result


@pytest.mark.parametrize(
    "name", ["chess:history=0", "chess:history=9", "chess:history=03", "chess:past=2", "chess:400"]
)
def test_other_variants_are_unknown(name: str) -> None:
    with pytest.raises(UnknownName):
        load_game(name)


def test_games_without_variants_have_none() -> None:
    with pytest.raises(UnknownName, match="connect4:history=2"):
        load_game("connect4:history=2")
