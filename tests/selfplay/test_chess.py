"""Self-play of chess, with opinions but no net: positions repeat, and games may never end."""

from typing import Any

import numpy as np

import toy
from chess_boards import CHESS
from rookery.games import DRAW, ONGOING, GameRecord, bind_repetitions, new_repetitions
from rookery.search import SearchConfig
from rookery.selfplay import SelfPlay, SelfPlayConfig

SHUFFLE = {"g1f3": "", "f3g1": "startpos moves g1f3 g8f6"}
"""Two moves, and a position where each can be made."""


def shuffling(planes: Any) -> tuple[Any, Any]:
    """Wants to move the king's knight out and home again, whichever side it is on."""
    logits = np.zeros((len(planes), CHESS.num_actions), np.float32)
    for move, position in SHUFFLE.items():
        logits[:, CHESS.read_move(CHESS.position(position), move)] = 50
    return logits, np.full((len(planes), 3), 1 / 3, np.float32)


def new_selfplay(evaluator: Any, seed: int = 1, **settings: Any) -> SelfPlay:
    defaults = {"games": 3, "simulations": "2", "opening_share": 0.0, "temperature_plies": 0}
    config = SelfPlayConfig(**(defaults | settings))
    return SelfPlay(CHESS, evaluator, config=config, search=SearchConfig(considered=2), seed=seed)


def check_record(record: GameRecord) -> int:
    """Replay the game with its memory; the outcome at its end."""
    state, repetitions = record.states[0].copy(), new_repetitions(CHESS, 1)
    play = bind_repetitions(CHESS.rules).play
    for kept, action in zip(record.states, record.actions, strict=True):
        assert state.tobytes() == kept.tobytes()
        assert CHESS.rules.outcome(state) == ONGOING
        assert int(action) in CHESS.legal_actions(state)
        play(repetitions, state, int(action), 0)
    return int(CHESS.rules.outcome(state))


def test_the_third_repetition_ends_a_game_as_a_draw() -> None:
    records, report = new_selfplay(shuffling).play(17, progress=0.0)
    assert [len(record) for record in records] == [8] * 6
    assert report.draws == 1.0
    for record in records:
        assert record.result == check_record(record) == DRAW
        assert record.states["repeats"].tolist() == [0, 0, 0, 0, 1, 1, 1, 1]


def test_a_game_that_lasts_too_long_is_a_draw() -> None:
    selfplay = new_selfplay(toy.hashed(CHESS.num_actions), max_plies=12, temperature_plies=12)
    records, _ = selfplay.play(25, progress=0.0)
    assert [len(record) for record in records] == [12] * 6
    assert all(record.result == DRAW for record in records)
    assert all(check_record(record) == ONGOING for record in records)


def test_a_restored_state_remembers_what_stood_before() -> None:
    whole = new_selfplay(shuffling)
    whole.play(6, progress=0.0)
    kept = {name: np.array(array) for name, array in whole.state().items()}
    resumed, forgetful = new_selfplay(shuffling, seed=9), new_selfplay(shuffling, seed=9)
    resumed.restore(kept)
    forgetful.restore({name: kept[name] for name in kept if "memory" not in name})
    expected, _ = whole.play(2, progress=0.0)
    assert len(expected) == 3
    found, _ = resumed.play(2, progress=0.0)
    assert [r.fingerprint() for r in found] == [r.fingerprint() for r in expected]
    assert not forgetful.play(2, progress=0.0)[0]


def test_a_restored_state_plays_on_bit_for_bit() -> None:
    settings: Any = {"max_plies": 20, "temperature_plies": 20, "opening_share": 1.0}
    whole = new_selfplay(toy.hashed(CHESS.num_actions), **settings)
    whole.play(15, progress=0.0)
    kept = {name: np.array(array) for name, array in whole.state().items()}
    other = new_selfplay(toy.hashed(CHESS.num_actions), seed=7, **settings)
    other.restore(kept)
    expected, found = (each.play(20, progress=0.0)[0] for each in (whole, other))
    assert [r.fingerprint() for r in found] == [r.fingerprint() for r in expected]
    for name, array in whole.state().items():
        assert np.array_equal(array, other.state()[name]), name
