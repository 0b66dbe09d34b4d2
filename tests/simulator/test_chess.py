"""The kernels where positions repeat: chess, searched and played as on the CPU."""

from typing import Any

import numpy as np
import pytest
import torch

from devices import Linear
from rookery.games import Repetitions, bind_repetitions, load_game, new_repetitions
from rookery.search import SearchConfig, new_search
from rookery.selfplay import GpuSelfPlay, SelfPlayConfig
from selfplay_games import check_end, split_games

CHESS = load_game("chess")
LINEAR = Linear(CHESS.planes_shape, CHESS.num_actions)
LOST = "8/1k6/8/8/8/8/1q4P1/7K b - - 0 1"
TO_AND_FRO = "b7a7 h1h2 a7b7 h2h1 b7a7 h1h2 a7b7"


def remember(fen: str, moves: str) -> tuple[np.record, Repetitions]:
    """The position after `moves`, and what stood before it."""
    state, repetitions = CHESS.position(fen), new_repetitions(CHESS, 1)
    for move in moves.split():
        action = CHESS.read_move(state, move)
        bind_repetitions(CHESS.rules).play(repetitions, state, action, 0)
    return state, repetitions


@pytest.mark.parametrize("method", ["gumbel", "puct"])
def test_both_searches_agree_about_repetitions(method: str) -> None:
    state, repetitions = remember(LOST, TO_AND_FRO)
    options: dict[str, Any] = {
        "config": SearchConfig(method=method),
        "num_games": 1,
        "max_simulations": 24,
        "explore": False,
        "seed": 5,
    }
    on_cpu = new_search(CHESS, LINEAR, **options)
    on_gpu = new_search(CHESS, LINEAR.on(torch.device("cpu")), **options)
    answers = []
    for search in (on_cpu, on_gpu):
        search.roots[0] = state
        search.repetitions.keys[:], search.repetitions.counts[:] = repetitions
        answers.append(search.run(24))
    for field in ("actions", "visits", "policy", "values"):
        np.testing.assert_array_equal(getattr(answers[1], field), getattr(answers[0], field))
    assert on_gpu.evaluations == on_cpu.evaluations
    assert answers[0].values[0, 1] > 0.0


def test_games_in_progress_keep_their_repetitions() -> None:
    config = SelfPlayConfig(games=2, simulations="2", opening_share=1.0, opening_plies=6)
    evaluator = LINEAR.on(torch.device("cpu"))

    def new_selfplay(seed: int) -> GpuSelfPlay:
        options: dict[str, Any] = {
            "config": config,
            "search": SearchConfig(),
            "moves": 2,
            "seed": seed,
        }
        return GpuSelfPlay(CHESS, evaluator, **options)

    selfplay = new_selfplay(3)
    selfplay.play_waves(4, progress=0.0)
    state = selfplay.state()
    plies = state["games.openings"] + state["games.lengths"]
    np.testing.assert_array_equal(state["repetitions.counts"], plies)
    keys = state["repetitions.keys"]
    assert keys.shape == (2, CHESS.repetition_window) and keys[:, 0].all()
    other = new_selfplay(4)
    other.restore(state)
    np.testing.assert_array_equal(other.state()["repetitions.keys"], keys)


def test_moves_lead_from_row_to_row() -> None:
    config = SelfPlayConfig(games=2, simulations="2", max_plies=4, opening_share=0.0)
    options: dict[str, Any] = {"config": config, "search": SearchConfig(), "moves": 4, "seed": 3}
    selfplay = GpuSelfPlay(CHESS, LINEAR.on(torch.device("cpu")), **options)
    played = selfplay.finish(selfplay.start(6, progress=0.0, iteration=2))
    games = split_games(played.rows)
    assert len(games) >= 2
    for game in games:
        check_end(CHESS, game, max_plies=4)
