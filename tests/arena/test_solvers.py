"""The solvers compared with plain minimax, mirrored positions and published results."""

import runpy
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rookery.arena import Connect4Solver, ExhaustiveSolver
from rookery.arena.solvers.positions import load_positions, read_line
from rookery.base import IllegalPosition
from rookery.games import DRAW, LOSS, ONGOING, WIN, load_game

CONNECT4 = load_game("connect4")
TICTACTOE = load_game("tictactoe")
SOLVER = Connect4Solver(18)
TOOL = runpy.run_path(str(Path(__file__).parents[2] / "tools/make_connect4_positions.py"))
LATE = 34  # plies from which plain minimax is fast


def lines_of_four() -> list[tuple[tuple[int, int], ...]]:
    steps = ((1, 0), (0, 1), (1, 1), (1, -1))
    cells = [(column, row) for column in range(7) for row in range(6)]
    runs = [[(c + k * dc, r + k * dr) for k in range(4)] for c, r in cells for dc, dr in steps]
    return [tuple(run) for run in runs if all(cell in cells for cell in run)]


LINES = lines_of_four()
THROUGH = {(c, r): [line for line in LINES if (c, r) in line] for c in range(7) for r in range(6)}


def plain_score(moves: str) -> int | None:
    """Return the minimax score, computed without bitboards; None if the last move won."""
    owner: dict[tuple[int, int], int] = {}
    heights = [0] * 7
    for ply, column in enumerate(int(move) - 1 for move in moves):
        owner[column, heights[column]] = ply % 2
        last = (column, heights[column])
        heights[column] += 1
    if any(all(owner.get(cell) == owner[last] for cell in line) for line in THROUGH[last]):
        return None
    return max((plain_move_score(moves, column) for column in open_columns(moves)), default=0)


def plain_move_score(moves: str, column: str) -> int:
    after = plain_score(moves + column)
    return (43 - len(moves)) // 2 if after is None else -after


def open_columns(moves: str) -> list[str]:
    return [column for column in "1234567" if moves.count(column) < 6]


def random_moves(seed: int, plies: int) -> str:
    """Return the moves of a random game that is not over after `plies`."""
    rng = np.random.default_rng(seed)
    state, moves = CONNECT4.position(""), ""
    while len(moves) < plies:
        moves += str(rng.choice(open_columns(moves)))
        CONNECT4.rules.play(state, int(moves[-1]) - 1)
        if CONNECT4.rules.outcome(state) != ONGOING:
            state, moves = CONNECT4.position(""), ""
    return moves


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), plies=st.integers(LATE, 41))
def test_endgame_scores_equal_plain_minimax(seed: int, plies: int) -> None:
    moves = random_moves(seed, plies)
    state = CONNECT4.position(moves)
    expected = [
        plain_move_score(moves, column) if column in open_columns(moves) else None
        for column in "1234567"
    ]
    assert SOLVER.scores(state) == expected
    assert SOLVER.score(state) == plain_score(moves)


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), plies=st.integers(18, 36))
def test_mirrored_positions_have_mirrored_scores(seed: int, plies: int) -> None:
    moves = random_moves(seed, plies)
    mirrored = "".join(str(8 - int(column)) for column in moves)
    scores = SOLVER.scores(CONNECT4.position(moves))
    assert Connect4Solver(16).scores(CONNECT4.position(mirrored)) == scores[::-1]


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), plies=st.integers(18, 36))
def test_the_score_is_that_of_the_best_move_and_the_highest_reached(seed: int, plies: int) -> None:
    state = CONNECT4.position(random_moves(seed, plies))
    score = SOLVER.score(state)
    assert score == max(move for move in SOLVER.scores(state) if move is not None)
    assert SOLVER.reaches(state, score) and not SOLVER.reaches(state, score + 1)


def test_an_immediate_win_scores_the_stones_left() -> None:
    assert SOLVER.score(CONNECT4.position("112233")) == 18
    assert SOLVER.score(CONNECT4.position("7112233")) == 18


def test_a_finished_game_has_no_score() -> None:
    with pytest.raises(IllegalPosition, match="over"):
        SOLVER.score(CONNECT4.position("1122334"))


def test_a_solved_position_takes_few_nodes_the_second_time() -> None:
    solver = Connect4Solver(18)
    state = CONNECT4.position(random_moves(5, 20))
    solver.score(state)
    first = solver.nodes
    solver.score(state)
    assert first > 100 and solver.nodes - first < first / 10


@pytest.mark.parametrize(
    ("moves", "score"),
    [
        ("2252576253462244111563365343671351441", -1),
        ("7422341735647741166133573473242566", 1),
        ("23163416124767223154467471272416755633", 0),
    ],
)
def test_positions_of_pascal_pons_have_his_scores(moves: str, score: int) -> None:
    assert SOLVER.score(CONNECT4.position(moves)) == score == plain_score(moves)


@pytest.mark.parametrize(
    ("plies", "score", "left"),
    [(6, 18, 1), (7, 18, 1), (0, 1, 41), (1, -1, 40), (40, -1, 2), (41, 1, 1), (30, 0, 12)],
)
def test_the_plies_left_follow_from_the_score(plies: int, score: int, left: int) -> None:
    assert TOOL["plies_left"](plies, score) == left


def test_the_shipped_positions_are_distinct_and_in_their_groups() -> None:
    positions = load_positions()
    assert {position.group for position in positions} == set(TOOL["GROUPS"])
    assert len({CONNECT4.position(p.moves).tobytes() for p in positions}) == len(positions)
    for position in positions:
        scores = [score for score in position.scores if score is not None]
        assert TOOL["group_of"](len(position.moves), max(scores)) == position.group
        assert max(scores) >= 0 and np.sign(min(scores)) < np.sign(max(scores))


def test_the_solver_confirms_the_scores_of_late_shipped_positions() -> None:
    late = [p for p in load_positions() if len(p.moves) >= 20][-40:]
    for position in late:
        assert tuple(SOLVER.scores(CONNECT4.position(position.moves))) == position.scores


def test_plain_minimax_confirms_the_scores_of_shipped_endgames() -> None:
    ends = [p for p in load_positions() if len(p.moves) >= LATE][:10]
    assert len(ends) == 10
    for position in ends:
        best = max(score for score in position.scores if score is not None)
        assert plain_score(position.moves) == best


def test_a_line_survives_a_round_trip() -> None:
    line = "end-easy 1234567 1 -2 x 0 3 x -4"
    assert TOOL["write_line"](read_line(line)) == line


def test_tictactoe_is_a_draw_and_only_corners_hold_against_the_centre() -> None:
    solver = ExhaustiveSolver(TICTACTOE)
    assert solver.scores(TICTACTOE.position("")) == [DRAW] * 9
    replies = solver.scores(TICTACTOE.position("5"))
    assert replies == [DRAW, LOSS, DRAW, LOSS, None, LOSS, DRAW, LOSS, DRAW]
    assert solver.score(TICTACTOE.position("1425")) == WIN
