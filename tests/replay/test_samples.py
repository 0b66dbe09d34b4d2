"""Columns of many games: every row must be what the record said."""

import numpy as np
import pytest

from rookery.games import WIN, load_game
from rookery.replay import Samples

CONNECT4 = load_game("connect4")


def policy_of(samples: Samples, row: int) -> dict[int, float]:
    entries = slice(samples.starts[row], samples.starts[row + 1])
    return dict(
        zip(
            samples.actions[entries].tolist(),
            samples.probabilities[entries].tolist(),
            strict=True,
        )
    )


def test_every_row_keeps_its_state_and_policy(make_records):
    records = make_records(CONNECT4, 5)
    samples = Samples.from_records(records, 7)
    row = 0
    for record in records:
        for ply in range(len(record)):
            first, last = record.policy_starts[ply : ply + 2]
            actions = record.policy_actions[first:last].tolist()
            assert samples.states[row] == record.states[ply]
            assert policy_of(samples, row) == dict(
                zip(actions, record.policy[first:last].tolist(), strict=True)
            )
            assert samples.plies[row] == ply
            row += 1
    assert len(samples) == row
    assert (samples.born == 7).all()


def test_the_winner_made_the_last_move(make_records):
    record = next(r for r in make_records(CONNECT4, 20) if r.result)
    samples = Samples.from_records([record], 0)
    assert samples.results[-1] == WIN
    assert samples.results[-2] == -WIN


def test_opening_plies_are_counted(make_records):
    record = make_records(CONNECT4, 1)[0]
    shifted = type(record)(**{**vars(record), "first_ply": 4})
    assert Samples.from_records([shifted], 0).plies[0] == 4


def test_a_slice_and_its_rest_join_to_the_whole(make_records):
    whole = Samples.from_records(make_records(CONNECT4, 6), 0)
    for cut in (0, 1, 50, len(whole)):
        joined = Samples.concatenate([whole.between(0, cut), whole.between(cut, len(whole))])
        for name in vars(whole):
            assert np.array_equal(getattr(joined, name), getattr(whole, name)), name
            assert getattr(joined, name).dtype == getattr(whole, name).dtype, name


def test_a_million_connect_four_rows_take_under_80_megabytes(make_records):
    part = Samples.from_records(make_records(CONNECT4, 100), 0)
    samples = Samples.concatenate([part] * (100_000 // len(part)))
    assert len(samples) > 95_000
    assert samples.nbytes / len(samples) * 1_000_000 < 80e6


def test_joined_states_are_still_read_by_field_name(make_records):  # numpy may drop the names
    samples = Samples.from_records(make_records(CONNECT4, 2), 0)
    assert samples.states[1].stones in [1 << 7 * column for column in range(7)]


def test_columns_of_different_lengths_are_refused(make_records):
    samples = Samples.from_records(make_records(CONNECT4, 1), 0)
    with pytest.raises(ValueError, match="one length"):
        Samples(**{**vars(samples), "plies": samples.plies[1:]})
