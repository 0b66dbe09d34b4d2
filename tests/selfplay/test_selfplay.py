"""Self-play: every record is a legal game that the rules confirm, and no two runs of it collide."""

from typing import Any

import numpy as np
import pytest

import toy
from rookery.base import ConfigError
from rookery.games import LOSS, ONGOING, GameRecord, load_game
from rookery.search import SearchConfig
from rookery.selfplay import SelfPlay, SelfPlayConfig

CONNECT4 = load_game("connect4")


def new_selfplay(seed: int = 1, **settings: Any) -> SelfPlay:
    config = SelfPlayConfig(**({"games": 24, "simulations": "8"} | settings))
    return SelfPlay(
        CONNECT4, toy.hashed(7), config=config, search=SearchConfig(considered=4), seed=seed
    )


def play(moves: int = 60, seed: int = 1, **settings: Any) -> list[GameRecord]:
    return new_selfplay(seed, **settings).play(moves, progress=0.0)[0]


def replay(record: GameRecord) -> Any:
    """The final state, after checking every move and position of the record."""
    state = record.states[0].copy()
    for ply, action in enumerate(record.actions):
        assert state == record.states[ply]
        assert CONNECT4.rules.outcome(state) == ONGOING
        assert action in CONNECT4.legal_actions(state)
        CONNECT4.rules.play(state, int(action))
    return state


def test_records_replay_to_the_result_they_claim() -> None:
    records = play()
    assert len(records) > 24
    for record in records:
        outcome = CONNECT4.rules.outcome(replay(record))
        assert outcome != ONGOING
        assert record.result == (outcome if len(record) % 2 == 0 else -outcome)


def test_policies_cover_exactly_the_legal_moves_and_sum_to_one() -> None:
    for record in play(moves=30):
        for ply, state in enumerate(record.states):
            row = slice(record.policy_starts[ply], record.policy_starts[ply + 1])
            assert record.policy_actions[row].tolist() == CONNECT4.legal_actions(state)
            assert record.policy[row].astype(np.float64).sum() == pytest.approx(1.0, abs=0.01)


def test_the_last_position_before_a_win_is_known_to_be_won() -> None:
    won = [record for record in play() if record.results()[-1] == 1]
    proved = [record.values[-1, 0] == 1.0 for record in won]
    assert np.mean(proved) > 0.9


def test_openings_have_at_most_the_plies_asked_for_and_differ() -> None:
    records = play(opening_share=1.0, opening_plies=8)
    plies = {record.first_ply for record in records}
    assert plies == set(range(1, 9))
    assert len({record.states[0].tobytes() for record in records}) > len(records) / 2


def test_games_of_one_ply_have_room_for_drawing_their_openings() -> None:
    selfplay = new_selfplay(max_plies=1, opening_share=1.0, opening_plies=3)
    assert selfplay.state()["history.states"].shape[1] == 2
    for record in selfplay.play(6, progress=0.0)[0]:
        assert len(record.actions) == 1
        replay(record)


def test_an_opening_seldom_leaves_a_win_on_the_board() -> None:
    records = play(opening_share=1.0, opening_plies=12)
    openings = [record.states[0] for record in records if record.first_ply > 6]
    assert np.mean([can_win(state) for state in openings]) < 0.2


def can_win(state: Any) -> bool:
    for action in CONNECT4.legal_actions(state):
        after = state.copy()
        CONNECT4.rules.play(after, action)
        if CONNECT4.rules.outcome(after) == LOSS:
            return True
    return False


def test_without_openings_every_game_begins_at_the_start() -> None:
    records = play(opening_share=0.0)
    assert {record.states[0].tobytes() for record in records} == {
        CONNECT4.new_states(1)[0].tobytes()
    }


def test_two_seeds_share_no_game() -> None:
    """Short games may be equal by chance."""
    first, second = (
        {record.fingerprint() for record in play(seed=seed) if len(record) > 10} for seed in (1, 2)
    )
    assert len(first) > 50 and not first & second


def test_the_same_seed_plays_the_same_games() -> None:
    assert [r.fingerprint() for r in play(seed=5)] == [r.fingerprint() for r in play(seed=5)]


def test_temperature_beyond_the_first_plies_is_off() -> None:
    settings: Any = {"opening_share": 0.0, "temperature_plies": 0}
    drawn = play(**settings | {"temperature_plies": 42})
    fixed = play(**settings)
    assert len({r.fingerprint() for r in drawn}) > len({r.fingerprint() for r in fixed}) / 2


def test_where_nobody_resigns_those_who_would_have_been_wrong_are_counted() -> None:
    selfplay = new_selfplay(resign=0.01, resign_check=1.0)
    records, report = selfplay.play(42, progress=0.0)
    assert all(CONNECT4.rules.outcome(replay(record)) != ONGOING for record in records)
    assert 0 < report.resign_errors < report.resign_checks <= report.games
    assert report.resign_checks == sum(_gave_up(record, 0.01) != 0 for record in records)


def _gave_up(record: GameRecord, threshold: float) -> int:
    """The row of the first player who would have resigned, counted from 1; 0 if none."""
    low = np.flatnonzero(record.values[:-1, 0] < -threshold)
    return int(low[0]) + 1 if len(low) else 0


def test_a_player_who_resigns_loses_before_the_board_says_so() -> None:
    early = [r for r in play(resign=0.01) if CONNECT4.rules.outcome(replay(r)) == ONGOING]
    assert early
    assert all(record.results()[-1] == -1 for record in early)
    assert all(record.values[-1, 0] < -0.01 for record in early)


def test_a_restored_state_plays_on_bit_for_bit() -> None:
    whole = new_selfplay()
    whole.play(20, progress=0.0)
    kept = {name: np.array(array) for name, array in whole.state().items()}
    expected = [r.fingerprint() for r in whole.play(20, progress=0.0)[0]]
    other = new_selfplay(seed=99)
    other.restore(kept)
    assert [r.fingerprint() for r in other.play(20, progress=0.0)[0]] == expected


def test_a_check_that_raises_ends_the_play_at_once() -> None:
    class Enough(Exception):
        pass

    def stop() -> None:
        raise Enough

    with pytest.raises(Enough):
        new_selfplay().play(1000, progress=0.0, check=stop)


def test_the_schedule_rises_with_progress() -> None:
    config = SelfPlayConfig(simulations="16, 32@0.3, 64@0.7")
    assert [config.simulations_at(p) for p in (0.0, 0.29, 0.3, 0.69, 0.7, 1.0)] == [
        16,
        16,
        32,
        32,
        64,
        64,
    ]
    assert config.max_simulations() == 64


@pytest.mark.parametrize("text", ["", "a", "0", "16@x", "16, 32@0.7, 64@0.3", "-4"])
def test_a_malformed_schedule_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=r"selfplay\.simulations"):
        SelfPlayConfig(simulations=text)


@pytest.mark.parametrize(
    "wrong", [{"games": 0}, {"temperature": 0.0}, {"opening_share": 1.5}, {"resign": 2.0}]
)
def test_settings_out_of_range_are_refused_by_name(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=f"selfplay.{next(iter(wrong))}"):
        SelfPlayConfig(**wrong)
