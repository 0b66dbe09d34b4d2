"""Chess with earlier positions in its planes: the same game, seen with a memory."""

import numpy as np
import pytest

from chess_boards import OurBoard
from rookery.base import UnknownName, generator
from rookery.games import ONGOING, check_game, load_game
from rookery.games.chess.variant import PLANES_EACH

CHESS, LONGER = load_game("chess"), load_game("chess:history=3")
PRESENT, REPEATED = CHESS.planes_shape[0], 15


def planes_of(board: OurBoard) -> np.ndarray:
    out = np.full(board.game.planes_shape, 77, np.float32)
    board.game.rules.planes(board.state, out)
    return out


def as_seen_later(planes: np.ndarray, plies: int) -> np.ndarray:
    """The pieces of earlier planes, and the sign of a repetition, as seen so many plies later."""
    pieces = planes[:12]
    if plies % 2:
        pieces = np.concatenate([pieces[6:], pieces[:6]])[:, ::-1]
    return np.concatenate([pieces, planes[REPEATED : REPEATED + 1]])


def test_earlier_planes_are_those_that_were_seen_then() -> None:
    for index in range(3):
        stream, seen = generator(0, "history", index), list[np.ndarray]()
        plain, longer = OurBoard(), OurBoard(rules=LONGER)
        while plain.outcome() == longer.outcome() == ONGOING and len(seen) < 60:
            seen.insert(0, planes_of(plain))
            found = planes_of(longer)
            assert np.array_equal(found[:PRESENT], seen[0])
            for plies in range(1, 4):
                first = PRESENT + PLANES_EACH * (plies - 1)
                past = found[first : first + PLANES_EACH]
                if plies < len(seen):
                    assert np.array_equal(past, as_seen_later(seen[plies], plies))
                else:
                    assert not past.any(), "nothing stood before the start"
            assert plain.actions() == longer.actions()
            shuffle = "again" if index else "any"
            action = _pick(plain, shuffle, stream)
            plain.make(action)
            longer.make(action)


def _pick(board: OurBoard, taste: str, stream: np.random.Generator) -> int:
    knights = [a for a in board.actions() if board.write(a) in ("g1f3", "f3g1", "g8f6", "f6g8")]
    pool = knights if taste == "again" and knights else board.actions()
    return int(stream.choice(pool))


def test_a_repetition_is_seen_in_the_past() -> None:
    board = OurBoard(rules=LONGER)
    for move in ["g1f3", "g8f6", "f3g1", "f6g8", "e2e4"]:
        board.play(move)
    last = planes_of(board)[PRESENT : PRESENT + PLANES_EACH]
    assert last[12].all(), "the first position stood there again a ply ago"


def test_rules_and_notation_are_those_of_chess() -> None:
    assert LONGER.name == "chess:history=3" and LONGER.version == CHESS.version
    assert LONGER.planes_shape == (16 + 3 * PLANES_EACH, 8, 8)
    state = LONGER.position("startpos moves e2e4 e7e5")
    assert CHESS.module.write_position(state) == LONGER.module.write_position(state)
    assert state.past[0].any() and not state.past[2].any()
    fen = LONGER.module.write_position(state)
    assert not LONGER.position(fen).past.any(), "a FEN has no past"
    assert LONGER.rules.key(state) == CHESS.rules.key(CHESS.position(fen))


def test_variants_keep_every_promise() -> None:
    for finding in check_game(LONGER, games=2):
        assert finding.ok and not finding.doubtful, finding


@pytest.mark.parametrize(
    "name", ["chess:history=0", "chess:history=9", "chess:history=03", "chess:past=2", "chess:400"]
)
def test_other_variants_are_unknown(name: str) -> None:
    with pytest.raises(UnknownName):
        load_game(name)


def test_games_without_variants_have_none() -> None:
    with pytest.raises(UnknownName, match="connect4:history=2"):
        load_game("connect4:history=2")
