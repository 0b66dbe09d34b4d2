"""Connect Four, compared with a slow implementation on lists, and its notation."""

import numpy as np
import pytest

from rookery.base import IllegalPosition, generator
from rookery.games import DRAW, LOSS, ONGOING, Action, load_game

CONNECT4 = load_game("connect4")


class SlowBoard:
    """Connect Four on columns that are lists of players; player 0 moves first."""

    def __init__(self) -> None:
        self.columns: list[list[int]] = [[] for _ in range(7)]
        self.to_play = 0

    def legal(self) -> list[Action]:
        return [index for index, column in enumerate(self.columns) if len(column) < 6]

    def play(self, action: Action) -> None:
        self.columns[action].append(self.to_play)
        self.to_play = 1 - self.to_play

    def stone(self, column: int, row: int) -> int | None:
        inside = 0 <= column < 7 and 0 <= row < len(self.columns[column])
        return self.columns[column][row] if inside else None

    def has_four(self, player: int) -> bool:
        return any(
            all(self.stone(c + across * i, r + up * i) == player for i in range(4))
            for c in range(7)
            for r in range(6)
            for across, up in ((0, 1), (1, 0), (1, 1), (1, -1))
        )

    def outcome(self) -> int:
        if self.has_four(1 - self.to_play):
            return LOSS
        return ONGOING if self.legal() else DRAW

    def planes(self) -> np.ndarray:
        out = np.zeros((2, 6, 7), np.float32)
        for column in range(7):
            for row, stone in enumerate(self.columns[column]):
                out[int(stone != self.to_play), 5 - row, column] = 1
        return out


def test_random_games_agree_with_a_slow_board() -> None:
    outcomes = set()
    for index in range(60):
        stream = generator(0, "test_connect4", index)
        state, board = CONNECT4.new_states(1)[0], SlowBoard()
        while board.outcome() == ONGOING:
            assert CONNECT4.rules.outcome(state) == ONGOING
            assert CONNECT4.legal_actions(state) == board.legal()
            action = int(stream.choice(board.legal()))
            CONNECT4.rules.play(state, action)
            board.play(action)
            out = np.empty(CONNECT4.planes_shape, np.float32)
            CONNECT4.rules.planes(state, out)
            assert np.array_equal(out, board.planes())
        assert CONNECT4.rules.outcome(state) == board.outcome()
        outcomes.add(board.outcome())
    assert LOSS in outcomes


def test_a_full_board_without_a_line_is_a_draw() -> None:
    state = CONNECT4.position("114442723171655455364367241721576333725626")
    assert CONNECT4.rules.outcome(state) == DRAW


@pytest.mark.parametrize(
    ("moves", "line"),
    [
        ("1213141", "column"),
        ("1122334", "row"),
        ("4332243722144", "rising"),
        ("23541536346463", "falling"),
    ],
)
def test_four_in_a_line_loses_for_the_player_to_move(moves: str, line: str) -> None:
    assert CONNECT4.rules.outcome(CONNECT4.position(moves)) == LOSS, line
    assert CONNECT4.rules.outcome(CONNECT4.position(moves[:-1])) == ONGOING


def test_full_column_is_illegal() -> None:
    state = CONNECT4.position("111111")
    assert CONNECT4.legal_actions(state) == [1, 2, 3, 4, 5, 6]
    with pytest.raises(IllegalPosition, match="column 1 is full"):
        CONNECT4.read_move(state, "1")


@pytest.mark.parametrize("text", ["8", "0", "a", "11x", "1213141" + "2"])
def test_illegal_positions_are_rejected(text: str) -> None:
    with pytest.raises(IllegalPosition):
        CONNECT4.position(text)


def test_the_board_is_shown_as_text() -> None:
    assert CONNECT4.show(CONNECT4.position("4453")).splitlines() == [
        ". . . . . . .",
        ". . . . . . .",
        ". . . . . . .",
        ". . . . . . .",
        ". . . O . . .",
        ". . O X X . .",
        "1 2 3 4 5 6 7",
    ]
