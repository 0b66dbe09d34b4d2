"""A winning move is played by the kernels for GPUs, even with one simulation."""

import pytest
import torch

from devices import Linear
from rookery.games import load_game
from rookery.search import SearchConfig, new_search

WINS = {
    "chess": ("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1", "d1d8"),
    "connect4": ("112233", "4"),
    "tictactoe": ("1425", "3"),
}


@pytest.mark.parametrize("simulations", [1, 5])
@pytest.mark.parametrize("method", ["gumbel", "puct"])
@pytest.mark.parametrize("name", WINS)
def test_a_win_in_one_is_found(name: str, method: str, simulations: int) -> None:
    game, (position, move) = load_game(name), WINS[name]
    linear = Linear(game.planes_shape, game.num_actions)
    search = new_search(
        game,
        linear.on(torch.device("cpu")),
        config=SearchConfig(method=method),
        num_games=1,
        max_simulations=simulations,
        explore=False,
        seed=1,
    )
    search.roots[0] = state = game.position(position)
    found = search.run(simulations)
    assert game.write_move(state, int(found.actions[0])) == move
    assert found.values[0].tolist() == [1.0, 0.0]
