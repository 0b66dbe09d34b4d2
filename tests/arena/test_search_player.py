"""The player with a net, on nets whose opinion is known."""

import numpy as np
import pytest
from numpy.typing import NDArray

from rookery.arena import MinimaxPlayer, RandomPlayer, SearchPlayer, play_match
from rookery.arena.players import search as search_module
from rookery.base import ConfigError
from rookery.games import load_game
from rookery.search import SearchConfig

CONNECT4 = load_game("connect4")


def prefers_the_left(
    planes: NDArray[np.float32],
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """A net that likes column 1 best, then 2 and so on, and holds every position for even."""
    logits = np.tile(np.linspace(0.3, -0.3, 7, dtype=np.float32), (len(planes), 1))
    return logits, np.full((len(planes), 3), 1 / 3, np.float32)


def player(simulations: int, method: str = "gumbel") -> SearchPlayer:
    config = SearchConfig(method=method)
    return SearchPlayer(
        CONNECT4, prefers_the_left, config=config, simulations=simulations, seed=0, name="left"
    )


def test_bare_net_plays_the_legal_move_of_the_highest_logit() -> None:
    states = CONNECT4.new_states(2)
    states[1] = CONNECT4.position("111111")
    assert player(0).choose(states).tolist() == [0, 1]


@pytest.mark.parametrize("method", ["gumbel", "puct"])
def test_search_sees_what_the_bare_net_does_not(method: str) -> None:
    states = np.repeat(CONNECT4.new_states(1), 2)
    states[0] = CONNECT4.position("71727")  # must block column 7
    states[1] = CONNECT4.position("717273")  # wins there
    assert player(0).choose(states).tolist() == [0, 0]
    assert player(200, method).choose(states).tolist() == [6, 6]


def test_batches_may_grow_shrink_and_exceed_the_largest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_module, "LARGEST_BATCH", 4)
    searcher = player(200)
    win = np.repeat(np.atleast_1d(CONNECT4.position("414141")), 11)
    for count in (1, 3, 2, 11):
        assert searcher.choose(win[:count]).tolist() == [3] * count


def test_no_states_give_no_moves() -> None:
    assert player(8).choose(CONNECT4.new_states(0)).shape == (0,)


def test_search_beats_random_and_its_own_bare_net() -> None:
    for weak in (RandomPlayer(CONNECT4, 1), player(0), MinimaxPlayer(CONNECT4, 1, seed=0)):
        report = play_match(CONNECT4, player(64), weak, games=24, seed=1, opening_plies=3)
        assert report.difference.low > 0, weak.name


def test_simulations_are_not_negative() -> None:
    with pytest.raises(ConfigError, match="bare net"):
        player(-1)
