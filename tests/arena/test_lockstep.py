"""The loops over many states against the scalar rules."""

import numpy as np
import pytest

from rookery.arena.lockstep import (
    distinct,
    legal_mask,
    outcomes,
    pick,
    planes,
    play_each,
    successors,
)
from rookery.base import generator
from rookery.games import ONGOING, game_names, load_game


@pytest.mark.parametrize("name", game_names())
def test_loops_do_what_the_scalar_rules_do(name: str) -> None:
    rules_game = load_game(name)
    stream = generator(1, "lockstep test")
    states = rules_game.new_states(40)
    while len(states):
        mask = legal_mask(rules_game, states)
        seen = planes(rules_game, states)
        for row, picture, state in zip(mask, seen, states, strict=True):
            assert np.flatnonzero(row).tolist() == sorted(rules_game.legal_actions(state))
            alone = np.zeros(rules_game.planes_shape, np.float32)
            rules_game.rules.planes(state, alone)
            assert (picture == alone).all()
        actions = pick(mask, stream)
        expected = states.copy()
        for state, action in zip(expected, actions, strict=True):
            rules_game.rules.play(state, action)
        play_each(rules_game, states, actions)
        assert (states == expected).all()
        ends = outcomes(rules_game, states)
        assert ends.tolist() == [rules_game.rules.outcome(state) for state in states]
        states = states[ends == ONGOING]


def test_pick_draws_evenly_from_what_is_allowed() -> None:
    mask = np.tile([True, False, True, True], (3000, 1))
    counts = np.bincount(pick(mask, generator(2, "pick")), minlength=4)
    assert counts[1] == 0
    assert min(counts[[0, 2, 3]]) > 900


def test_successors_of_the_first_two_plies_are_known() -> None:
    tictactoe = load_game("tictactoe")
    first = successors(tictactoe, tictactoe.new_states(1))
    second = successors(tictactoe, first)
    third = successors(tictactoe, second)
    assert (len(first), len(second), len(third)) == (9, 72, 504)
    assert len(distinct(third)) == 9 * 8 // 2 * 7  # the first player's two stones in any order
