"""The loops over many states compared with the scalar rules."""

import numpy as np
import pytest

from rookery.arena import Histories, sample_boards
from rookery.arena.lockstep import (
    advance,
    distinct,
    legal_mask,
    outcomes,
    planes,
    play_each,
    random_actions,
    successors,
)
from rookery.base import generator
from rookery.games import ONGOING, Board, game_names, load_game

TICTACTOE = load_game("tictactoe")


@pytest.mark.parametrize("name", game_names())
def test_the_loops_agree_with_the_scalar_rules(name: str) -> None:
    game = load_game(name)
    stream = generator(1, "lockstep test")
    states = game.new_states(40)
    while len(states):
        mask = legal_mask(game, states)
        inputs = planes(game, states)
        for row, board, state in zip(mask, inputs, states, strict=True):
            assert np.flatnonzero(row).tolist() == sorted(game.legal_actions(state))
            expected_planes = np.zeros(game.planes_shape, np.float32)
            game.rules.planes(state, expected_planes)
            assert (board == expected_planes).all()
        actions = random_actions(mask, stream)
        expected = states.copy()
        for state, action in zip(expected, actions, strict=True):
            game.rules.play(state, action)
        play_each(game, states, actions)
        assert (states == expected).all()
        ends = outcomes(game, states)
        assert ends.tolist() == [game.rules.outcome(state) for state in states]
        states = states[ends == ONGOING]


def test_histories_hold_the_moves_and_repetitions_of_every_game() -> None:
    chess = load_game("chess")
    moves = ["g1f3", "g8f6", "f3g1", "f6g8", "g1f3", "g8f6", "f3g1"]
    board = Board(chess)
    states, histories = chess.new_states(3), Histories.empty(chess, 3)
    for move in moves:
        board.play(chess.read_move(board.state, move))
        games = np.array([0, 2])
        advance(chess, states, histories, games, np.full(2, board.actions[-1], np.int32))
    assert histories.moves == [board.actions, [], board.actions]
    assert states[0] == states[2] == board.state and states[1] == chess.new_states(1)[0]
    last = histories.select(np.array([2]))
    histories.clear(np.array([0, 2]))
    assert histories.moves == [[], [], []] and not histories.repetitions.counts.any()
    assert last.moves == [board.actions], "a selection is a copy"
    assert (last.repetitions.keys[0] == board.repetitions.keys[0]).all()
    assert (last.repetitions.counts[0] == board.repetitions.counts[0]).all()


def test_random_actions_are_uniform_over_the_mask() -> None:
    mask = np.tile([True, False, True, True], (3000, 1))
    counts = np.bincount(random_actions(mask, generator(2, "actions")), minlength=4)
    assert counts[1] == 0
    assert min(counts[[0, 2, 3]]) > 900


def test_the_numbers_of_successors_are_known() -> None:
    first = successors(TICTACTOE, TICTACTOE.new_states(1))
    second = successors(TICTACTOE, first)
    third = successors(TICTACTOE, second)
    assert (len(first), len(second), len(third)) == (9, 72, 504)
    assert len(distinct(third)) == 9 * 8 // 2 * 7  # the first player's two stones in any order


def test_sampled_boards_cover_all_plies_and_do_not_change() -> None:
    boards = sample_boards(TICTACTOE, 50)
    assert boards.shape == (50, *TICTACTOE.planes_shape)
    stones = boards[:, :2].sum(axis=(1, 2, 3))
    assert stones[0] == 0 and stones[-1] >= 7 and (np.diff(stones) >= 0).all()
    assert (boards == sample_boards(TICTACTOE, 50)).all()
