"""The search kernels give exactly the results of the search on the CPU."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from devices import Linear, LinearOn
from rookery.games import load_game
from rookery.gpu import launch, view
from rookery.gpu.kernels import THREADS, transpose_tile
from rookery.search import SearchConfig, new_search

POSITIONS = {"connect4": ["", "44", "112233", "1122"], "tictactoe": ["", "5", "51", "519"]}


@pytest.mark.parametrize("method", ["gumbel", "puct"])
@pytest.mark.parametrize(("explore", "proof_nodes"), [(False, 0), (True, 0), (True, 50)])
@pytest.mark.parametrize("name", ["connect4", "tictactoe"])
def test_cpu_and_gpu_searches_agree(
    name: str, method: str, explore: bool, proof_nodes: int
) -> None:
    game, simulations = load_game(name), 12
    linear = Linear(game.planes_shape, game.num_actions)
    options: dict[str, Any] = {
        "config": SearchConfig(method=method, proof_nodes=proof_nodes, policy_temperature=2.0),
        "num_games": 4,
        "max_simulations": simulations,
        "explore": explore,
        "seed": 5,
    }
    on_cpu = new_search(game, linear, **options)
    on_gpu = new_search(game, linear.on(torch.device("cpu")), **options)
    for search in (on_cpu, on_gpu):
        for g, text in enumerate(POSITIONS[name]):
            search.roots[g] = game.position(text)
    expected, found = on_cpu.run(simulations), on_gpu.run(simulations)
    for field in ("actions", "visits", "policy", "values"):
        np.testing.assert_array_equal(getattr(found, field), getattr(expected, field))
    assert on_gpu.evaluations == on_cpu.evaluations


class Scattered(LinearOn):
    """Logits in float16, at random columns of a longer row."""

    def __init__(self, linear: Linear, num_actions: int) -> None:
        super().__init__(linear, torch.device("cpu"))
        stream = torch.Generator().manual_seed(1)
        self.cells = torch.randperm(3 * num_actions, generator=stream)[:num_actions]

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        logits, wdl = super().forward(planes)
        row = torch.full((len(logits), 3 * logits.shape[1]), 99.0, dtype=torch.float16)
        row[:, self.cells] = logits.half()
        return row, wdl


class Rounded(LinearOn):
    """Logits rounded to float16."""

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        logits, wdl = super().forward(planes)
        return logits.half().float(), wdl


def test_logits_are_read_from_their_columns() -> None:
    game, simulations = load_game("connect4"), 12
    linear = Linear(game.planes_shape, game.num_actions)
    options: dict[str, Any] = {
        "num_games": 2,
        "max_simulations": simulations,
        "explore": False,
        "seed": 5,
    }
    decisions = []
    for net in (Rounded(linear, torch.device("cpu")), Scattered(linear, game.num_actions)):
        search = new_search(game, net, config=SearchConfig(), **options)
        search.roots[:] = [game.position("44"), game.position("1122")]
        decisions.append(search.run(simulations))
    for field in ("actions", "visits", "policy", "values"):
        np.testing.assert_array_equal(*(getattr(found, field) for found in decisions))


@pytest.mark.parametrize("shape", [(3, 5), (32, 64), (70, 33)])
def test_a_matrix_is_transposed(shape: tuple[int, int]) -> None:
    source = torch.arange(shape[0] * shape[1], dtype=torch.float32).view(shape)
    target = torch.zeros(shape[::-1])
    tiles = -(-shape[0] // THREADS) * -(-shape[1] // THREADS)
    launch(transpose_tile, tiles * THREADS, view(source), view(target))
    assert torch.equal(target, source.t())


def test_the_first_games_of_a_batch_can_be_searched_alone() -> None:
    game = load_game("tictactoe")
    evaluator = Linear(game.planes_shape, game.num_actions).on(torch.device("cpu"))
    search = new_search(
        game,
        evaluator,
        config=SearchConfig(),
        num_games=4,
        max_simulations=8,
        explore=False,
        seed=1,
    )
    search.roots[:] = game.new_states(4)
    assert search.run(8, 2).visits.sum(axis=1).tolist() == [8, 8]
    assert search.run(4).visits.sum(axis=1).tolist() == [4] * 4
