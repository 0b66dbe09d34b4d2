"""Games read back from rows: the moves that were played, but for the last."""

from typing import Any

import numpy as np
import pytest

import toy
from rookery.games import GameRecord, load_game
from rookery.replay import Samples, trace_games
from rookery.search import SearchConfig
from rookery.selfplay import SelfPlay, SelfPlayConfig


def play(name: str, moves: int, **settings: Any) -> list[GameRecord]:
    rules = load_game(name)
    config = SelfPlayConfig(
        **({"games": 4, "simulations": "2", "temperature_plies": 30} | settings)
    )
    selfplay = SelfPlay(
        rules,
        toy.hashed(rules.num_actions),
        config=config,
        search=SearchConfig(considered=2),
        seed=1,
    )
    return selfplay.play(moves, progress=0.0)[0]


@pytest.mark.parametrize(
    ("name", "moves", "plies"), [("tictactoe", 40, 0), ("connect4", 60, 0), ("chess", 40, 12)]
)
def test_rows_tell_the_moves_between_them(name: str, moves: int, plies: int) -> None:
    records = play(name, moves, max_plies=plies, opening_share=0.7)
    samples = Samples.from_records(records, 1)
    traces = list(trace_games(samples, load_game(name)))
    assert len(traces) == len(records) > 4
    for trace, record in zip(traces, records, strict=True):
        assert trace.actions == tuple(record.actions[:-1].tolist())
        assert np.array_equal(trace.states, record.states)
        assert trace.result == record.result


def test_games_that_happen_to_join_are_told_apart() -> None:
    first, second = play("connect4", 60, opening_share=0.0)[:2]
    samples = Samples.from_records([first, second], 1)
    samples.plies[len(first) :] += np.int16(len(first))
    assert len(list(trace_games(samples, load_game("connect4")))) == 2


def test_no_rows_are_no_games() -> None:
    assert list(trace_games(Samples.empty(load_game("connect4")), load_game("connect4"))) == []
