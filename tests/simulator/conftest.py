"""Tests for the CUDA simulator; without it none is collected."""

import os

import pytest

from rookery.training import factory, parts
from rookery.training.self_players import LocalSelfPlay, SelfPlayer

collect_ignore_glob = [] if os.environ.get("NUMBA_ENABLE_CUDASIM") == "1" else ["test_*.py"]


class SelfPlayOnGpu(LocalSelfPlay):
    """Self-play whose games are kept as those of a GPU."""

    def __init__(self, player: SelfPlayer, *, kind: str, moves: int) -> None:
        super().__init__(player, kind="cuda", moves=moves)


@pytest.fixture
def gpu_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Build the parts of a GPU for tensors in host memory, which the simulator can use."""
    monkeypatch.setattr(parts, "is_gpu", lambda device: True)
    monkeypatch.setattr(factory, "LocalSelfPlay", SelfPlayOnGpu)
