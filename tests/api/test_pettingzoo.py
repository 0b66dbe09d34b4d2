"""Environments of PettingZoo: its own tests, and games that agree with boards."""

import warnings

import numpy as np
import pytest
from pettingzoo.test import api_test

import rookery as rk


@pytest.mark.parametrize("game", ["tictactoe", "connect4", "chess"])
def test_pettingzoo_accepts_the_environment(game: str, capsys: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the mask makes the observation a dict
        api_test(rk.to_pettingzoo(game), num_cycles=100)
    assert "Passed" in capsys.readouterr().out


@pytest.mark.parametrize("seed", range(6))
def test_a_game_has_the_moves_and_the_result_of_a_board(seed: int) -> None:
    environment, board = rk.to_pettingzoo("connect4"), rk.Board("connect4")
    rng, final = np.random.default_rng(seed), {}
    environment.reset()
    for agent in environment.agent_iter():
        observation, reward, is_over, _, _ = environment.last()
        if is_over:
            final[agent] = reward
            environment.step(None)
            continue
        assert agent == f"player_{board.turn}"
        legal = np.flatnonzero(observation["action_mask"])
        assert [str(action + 1) for action in legal] == board.legal_moves
        other = environment.observe(f"player_{1 - board.turn}")["action_mask"]
        assert not other.any()
        action = int(rng.choice(legal))
        environment.step(action)
        board.push(str(action + 1))
    assert board.outcome is not None
    assert final == {"player_0": board.outcome, "player_1": -board.outcome}
    assert environment.render() == str(board)


def test_an_illegal_action_loses() -> None:
    environment = rk.to_pettingzoo("tictactoe")
    environment.reset()
    environment.step(4)
    environment.step(4)
    assert environment.rewards == {"player_0": 1.0, "player_1": -1.0}
    assert all(environment.terminations.values())
