"""Trainers that fail in ways a healthy one does not, and teams of them."""

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import psutil
import torch

from rank_processes import TOGETHER, random_window
from rookery.games import load_game
from rookery.learning import LearningConfig, RankLearner
from rookery.nets import NetConfig, build_net
from rookery.training import Config, RunConfig
from rookery.training.trainers import trainer
from rookery.training.trainers.placement import TrainerPlacement
from rookery.training.trainers.pool import TrainerPool
from rookery.workers import Channel, Cluster, WorkerEvent

RULES = load_game("connect4")
CONFIG = replace(TOGETHER, silence_seconds=4.0)


class Fallible(RankLearner):
    """A rank that fails after `batches_left` batches; every other process for want of memory."""

    batches_left = 0

    def _batch(self, window: Any, number: int) -> Any:
        if Fallible.batches_left <= 0:
            if os.getpid() % 2:
                raise torch.OutOfMemoryError("out of memory, on purpose")
            raise ValueError("an error, on purpose")
        Fallible.batches_left -= 1
        return super()._batch(window, number)


def throwing_now_and_then(link: Channel, job: Mapping[str, Any]) -> None:
    """A trainer that has an accident every fifty batches or so."""
    Fallible.batches_left = int(np.random.default_rng(os.getpid()).integers(40, 56))
    trainer.RankLearner = Fallible  # type: ignore[attr-defined]
    trainer.trainer(link, job)


def throwing_at_once(link: Channel, job: Mapping[str, Any]) -> None:
    """A trainer that never gets anywhere."""
    trainer.RankLearner = Fallible  # type: ignore[attr-defined]
    trainer.trainer(link, job)


def from_elsewhere(link: Channel, job: Mapping[str, Any]) -> None:
    """A trainer of another version."""
    trainer.__version__ = "0.0.1"  # type: ignore[attr-defined]
    trainer.trainer(link, job)


class Accidental(TrainerPool):
    """A team whose trainers have accidents."""

    role = staticmethod(throwing_now_and_then)


class Hopeless(TrainerPool):
    """A team of which nobody gets anywhere."""

    role = staticmethod(throwing_at_once)


class Outdated(TrainerPool):
    """A team of another version."""

    role = staticmethod(from_elsewhere)


def new_team(
    size: int,
    config: LearningConfig = CONFIG,
    kind: type[TrainerPool] = TrainerPool,
    *,
    cluster: Cluster | None = None,
) -> tuple[TrainerPool, list[WorkerEvent]]:
    """A team with the net of `rank_processes.new_learner`, and what it tells."""
    settings = Config(
        "connect4",
        "test",
        run=RunConfig(seed=7),
        learning=config,
        net=NetConfig(width=8, depth=1),
    )
    net = build_net(settings.net, RULES.planes_shape, RULES.num_actions, seed=3)
    events: list[WorkerEvent] = []
    posts = TrainerPlacement((torch.device("cpu"),), size, cluster, threads=1)
    return kind(RULES, net, config=settings, posts=posts, tell=events.append), events


def window() -> Any:
    """The rows that `rank_processes.learn_alone` learns from."""
    return random_window(RULES, 400)


def processes() -> list[psutil.Process]:
    """The trainers that are there, oldest first."""
    found = [p for p in psutil.Process().children() if "spawn_main" in " ".join(p.cmdline())]
    return sorted(found, key=lambda process: process.create_time())
