"""Self-play keeps evaluations from move to move; apart from their number nothing changes."""

from typing import Any

import numpy as np
import pytest

import toy
from rookery.games import load_game
from rookery.search import CpuSearch, SearchConfig
from rookery.selfplay import CpuSelfPlay, Played, SelfPlayConfig


def play(name: str, simulations: int, moves: int, games: int = 16, **search: Any) -> Played:
    game = load_game(name)
    selfplay = CpuSelfPlay(
        game,
        toy.hashed(game.num_actions),
        config=SelfPlayConfig(games=games, simulations=str(simulations)),
        search=SearchConfig(**search),
        seed=1,
    )
    return selfplay.play(moves, progress=0.0, iteration=0)


@pytest.mark.parametrize(
    ("name", "moves", "search"),
    [
        ("tictactoe", 20, {"method": "gumbel"}),
        ("tictactoe", 20, {"method": "puct", "policy_temperature": 2.0}),
        ("tictactoe", 20, {"method": "gumbel", "prove": False}),
        ("connect4", 40, {"method": "gumbel", "proof_nodes": 50}),
        ("chess", 200, {"method": "gumbel"}),
    ],
)
@pytest.mark.parametrize("simulations", [1, 9, 40])
def test_the_same_games_need_fewer_evaluations(
    name: str,
    moves: int,
    search: dict[str, Any],
    simulations: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    followed = play(name, simulations, moves, **search)
    monkeypatch.setattr(CpuSearch, "follow", lambda self, actions: None)
    fresh = play(name, simulations, moves, **search)
    assert len(fresh.rows.moves) > 0
    for column, found, expected in zip(fresh.rows._fields, followed.rows, fresh.rows, strict=True):
        assert np.array_equal(found, expected), column
    assert followed.report.evaluations < 0.95 * fresh.report.evaluations


def test_nothing_is_kept_from_call_to_call() -> None:
    """The network may have changed."""
    game = load_game("tictactoe")
    seen: list[Any] = []

    def evaluate(planes: Any) -> Any:
        seen.append(planes.copy())
        return toy.hashed(9)(planes)

    config = SelfPlayConfig(games=4, simulations="20", opening_share=0.0)
    selfplay = CpuSelfPlay(game, evaluate, config=config, search=SearchConfig(), seed=1)
    selfplay.play(1, progress=0.0, iteration=0)
    roots = np.stack([game.planes(state[None])[0] for state in selfplay.state()["roots"]])
    seen.clear()
    selfplay.play(1, progress=0.0, iteration=0)
    assert np.array_equal(seen[0], roots)
