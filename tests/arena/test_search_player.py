"""The search player with evaluators whose output is known."""

from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from matches import play_match
from rookery.arena import Histories, MinimaxPlayer, RandomPlayer, SearchPlayer
from rookery.arena.players import search as search_module
from rookery.base import ConfigError
from rookery.games import Board, load_game
from rookery.search import SearchConfig, new_search

CONNECT4 = load_game("connect4")


def prefers_the_left(
    planes: NDArray[np.float32],
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Prefer column 1, then 2 and so on, and evaluate every position as even."""
    logits = np.tile(np.linspace(0.3, -0.3, 7, dtype=np.float32), (len(planes), 1))
    return logits, np.full((len(planes), 3), 1 / 3, np.float32)


def player(simulations: int, method: str = "gumbel") -> SearchPlayer:
    config = SearchConfig(method=method)
    return SearchPlayer(
        CONNECT4, prefers_the_left, config=config, simulations=simulations, seed=0, name="left"
    )


def test_without_search_the_legal_move_of_the_highest_logit_is_played() -> None:
    states = CONNECT4.new_states(2)
    states[1] = CONNECT4.position("111111")
    assert player(0).choose(states).tolist() == [0, 1]


@pytest.mark.parametrize("method", ["gumbel", "puct"])
def test_search_finds_moves_that_the_policy_misses(method: str) -> None:
    states = np.repeat(CONNECT4.new_states(1), 2)
    states[0] = CONNECT4.position("71727")  # column 7 must be blocked
    states[1] = CONNECT4.position("717273")  # column 7 wins
    assert player(0).choose(states).tolist() == [0, 0]
    assert player(200, method).choose(states).tolist() == [6, 6]


def test_batches_may_grow_shrink_and_exceed_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_module, "MAX_GAMES", 4)
    searching = player(200)
    win = np.repeat(np.atleast_1d(CONNECT4.position("414141")), 11)
    for count in (1, 3, 2, 11):
        assert searching.choose(win[:count]).tolist() == [3] * count


def test_fewer_games_are_searched_at_a_time_if_memory_runs_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    allocate = new_search

    def small_memory(*arguments: Any, num_games: int, **others: Any) -> Any:
        if num_games > 3:
            raise torch.OutOfMemoryError("out of memory, on purpose")
        return allocate(*arguments, num_games=num_games, **others)

    monkeypatch.setattr(search_module, "new_search", small_memory)
    searching = player(200)
    win = np.repeat(np.atleast_1d(CONNECT4.position("414141")), 11)
    for count in (11, 2):
        assert searching.choose(win[:count]).tolist() == [3] * count


def expects_to_win(
    planes: NDArray[np.float32],
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Evaluate every position as won for the player to move, so every move as losing."""
    logits = np.zeros((len(planes), load_game("chess").num_actions), np.float32)
    return logits, np.tile(np.array([1, 0, 0], np.float32), (len(planes), 1))


def test_the_search_takes_a_draw_by_repetition_from_the_history() -> None:
    chess = load_game("chess")
    board = Board.from_text(chess, "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1")
    config = SearchConfig(method="puct")
    searching = SearchPlayer(
        chess, expects_to_win, config=config, simulations=100, seed=0, name="losing"
    )
    draw = chess.read_move(board.state, "f6g8")
    histories = Histories(board.repetitions, [board.actions])
    assert searching.choose(board.states, histories).tolist() == [draw]
    assert searching.choose(board.states).tolist() != [draw]


def test_an_empty_batch_gives_no_moves() -> None:
    assert player(8).choose(CONNECT4.new_states(0)).shape == (0,)


def test_search_beats_random_moves_and_its_own_policy() -> None:
    for weak in (RandomPlayer(CONNECT4, 1), player(0), MinimaxPlayer(CONNECT4, 1, seed=0)):
        report = play_match(CONNECT4, player(64), weak, games=24, seed=1, opening_plies=3)
        assert report.difference.low > 0, weak.name


def test_simulations_are_not_negative() -> None:
    with pytest.raises(ConfigError, match="must be 0"):
        player(-1)
