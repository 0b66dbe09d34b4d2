"""No mode on one machine listens where another machine could connect."""

from dataclasses import replace
from pathlib import Path

import pytest

from faulty_trainers import CONFIG, new_pool, window
from rookery.arena import MatchPlan
from rookery.games import load_game
from rookery.training import (
    PlayerSpec,
    RunFolder,
    apply,
    play_match_over,
    recipe_for,
    train,
)
from rookery.workers import Message, WorkerPool
from sockets import Socket, exposed, listening


def observe_pools(monkeypatch: pytest.MonkeyPatch) -> set[Socket]:
    """Return a set that collects the sockets that are open when a worker has sent something."""
    found: set[Socket] = set()
    poll = WorkerPool.poll

    def observed(pool: WorkerPool) -> list[tuple[int, Message]]:
        messages = poll(pool)
        if messages:
            found.update(listening())
        return messages

    monkeypatch.setattr(WorkerPool, "poll", observed)
    return found


@pytest.mark.parametrize(
    "method", ["distributed", pytest.param("data_parallel", marks=pytest.mark.slow), "pipeline"]
)
def test_trainers_listen_on_loopback_only(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "eth0")  # as set for other programs
    before = listening()
    pool, _ = new_pool(2, replace(CONFIG, method=method, batch_size=16))
    try:
        rows = window()
        while len(pool.learn(rows, 1, progress=0.2).worked) < 2:
            pass
        found = listening() - before
    finally:
        pool.close()
    assert len(found) >= 2, "each trainer listens for the others"
    assert not exposed(found)


def test_actors_do_not_listen(
    tmp_path: Path, tiny: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before, found = listening(), observe_pools(monkeypatch)
    settings = [*tiny, "run.actors=2", "run.iterations=2"]
    folder = RunFolder.create(tmp_path / "run", apply(recipe_for("tictactoe"), settings))
    train(folder, lambda progress: None)
    assert not found - before


def test_evaluation_workers_do_not_listen(monkeypatch: pytest.MonkeyPatch) -> None:
    before, found = listening(), observe_pools(monkeypatch)
    minimax = PlayerSpec("plain", name="minimax:2")
    plan = MatchPlan(games=32, seed=5, opening_plies=2)
    notes: list[str] = []
    play_match_over(load_game("tictactoe"), plan, minimax, minimax, workers=2, on_note=notes.append)
    assert not notes and not found - before
