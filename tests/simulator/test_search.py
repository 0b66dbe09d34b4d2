"""The search's kernels against the search on the CPU, number for number."""

import numpy as np
import pytest
import torch

from devices import Linear
from rookery.games import game
from rookery.search import SearchConfig, new_search

POSITIONS = {"connect4": ["", "44", "112233", "1122"], "tictactoe": ["", "5", "51", "519"]}


@pytest.mark.parametrize("method", ["gumbel", "puct"])
@pytest.mark.parametrize("explore", [False, True])
@pytest.mark.parametrize("name", ["connect4", "tictactoe"])
def test_both_searches_agree(name: str, method: str, explore: bool) -> None:
    rules, simulations = game(name), 12
    linear = Linear(rules.planes_shape, rules.num_actions)
    options = {
        "config": SearchConfig(method=method),
        "num_games": 4,
        "max_simulations": simulations,
        "explore": explore,
        "seed": 5,
    }
    on_cpu = new_search(rules, linear, **options)
    on_gpu = new_search(rules, linear.on(torch.device("cpu")), **options)
    for search in (on_cpu, on_gpu):
        for g, text in enumerate(POSITIONS[name]):
            search.roots[g] = rules.position(text)
    expected, found = on_cpu.run(simulations), on_gpu.run(simulations)
    for field in ("actions", "visits", "policy", "values"):
        np.testing.assert_array_equal(getattr(found, field), getattr(expected, field))
    assert on_gpu.evaluations == on_cpu.evaluations


def test_part_of_the_games_can_be_searched() -> None:
    rules = game("tictactoe")
    evaluator = Linear(rules.planes_shape, rules.num_actions).on(torch.device("cpu"))
    search = new_search(
        rules,
        evaluator,
        config=SearchConfig(),
        num_games=4,
        max_simulations=8,
        explore=False,
        seed=1,
    )
    search.roots[:] = rules.new_states(4)
    assert search.run(8, 2).visits.sum(axis=1).tolist() == [8, 8]
    assert search.run(4).visits.sum(axis=1).tolist() == [4] * 4
