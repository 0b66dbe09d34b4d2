"""Figures of ranks: merged over time, and summed over ranks."""

from dataclasses import replace

import pytest

from rookery.learning import RankStats, merge_ranks, total_of

RANK = RankStats(
    "trainer 0",
    "cpu",
    updates=10,
    rows=1_000,
    rows_per_second=500.0,
    communication=0.2,
    waited=0.1,
    sent_mb=4.0,
    received_mb=2.0,
    memory_mb=300,
    total_updates=40,
    samples=4_000,
    batch_ms=20.0,
    sync_ms=5.0,
    efficiency=0.7,
    heartbeat_age=0.3,
)


def test_figures_of_one_rank_are_merged_by_its_updates() -> None:
    later = replace(
        RANK, updates=30, rows=3_000, batch_ms=40.0, sync_ms=1.0, total_updates=70, efficiency=0.9
    )
    (found,) = merge_ranks([RANK, later])
    assert (found.updates, found.rows, found.total_updates) == (40, 4_000, 70)
    assert (found.batch_ms, found.sync_ms) == (35.0, 2.0)
    assert found.efficiency == pytest.approx(0.8)
    assert (found.sent_mb, found.received_mb) == (8.0, 4.0)


def test_time_without_updates_does_not_change_the_shares_of_time() -> None:
    idle = replace(
        RANK, updates=0, rows=0, rows_per_second=0.0, communication=0.0, waited=0.0, efficiency=0.0
    )
    (found,) = merge_ranks([RANK, idle])
    assert (found.communication, found.waited, found.efficiency) == (0.2, 0.1, 0.7)
    assert (found.updates, found.batch_ms, found.rows_per_second) == (10, 20.0, 500.0)


def test_the_total_has_sums_and_the_worst_of_all_ranks() -> None:
    slow = replace(RANK, name="trainer 1", rows_per_second=300.0, batch_ms=30.0)
    lost = replace(
        RANK,
        name="trainer 2",
        updates=0,
        rows=0,
        rows_per_second=0.0,
        batch_ms=0.0,
        state="failed",
        heartbeat_age=7.0,
        failures=2,
        restarts=1,
        fallback=True,
    )
    found = total_of([RANK, slow, lost], updates=10, rows_per_second=400.0)
    assert found is not None
    assert (found.name, found.state, found.fallback) == ("all 3", "2 of 3", True)
    assert (found.updates, found.total_updates, found.samples) == (10, 40, 12_000)
    assert (found.rows_per_second, found.efficiency, found.batch_ms) == (800.0, 0.5, 25.0)
    assert (found.heartbeat_age, found.failures, found.restarts) == (7.0, 2, 1)
    assert found.memory_mb == 900
    assert total_of([], updates=0, rows_per_second=0.0) is None
