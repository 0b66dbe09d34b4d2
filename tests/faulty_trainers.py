"""Trainers that fail in ways a healthy one does not, and teams of them."""

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import psutil
import torch

from rank_processes import TOGETHER, random_window
from rookery.games import game
from rookery.learning import LearningConfig, RankLearner
from rookery.nets import NetConfig, build_net
from rookery.run import Config, RunConfig, trainer
from rookery.run.posts import Posts
from rookery.run.team import Team
from rookery.runtime import Cluster, Event, Link

RULES = game("connect4")
CONFIG = replace(TOGETHER, patience=4.0)


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


def throwing_now_and_then(link: Link, job: Mapping[str, Any]) -> None:
    """A trainer that has an accident every fifty batches or so."""
    Fallible.batches_left = int(np.random.default_rng(os.getpid()).integers(40, 56))
    trainer.RankLearner = Fallible  # type: ignore[attr-defined]
    trainer.trainer(link, job)


def throwing_at_once(link: Link, job: Mapping[str, Any]) -> None:
    """A trainer that never gets anywhere."""
    trainer.RankLearner = Fallible  # type: ignore[attr-defined]
    trainer.trainer(link, job)


def from_elsewhere(link: Link, job: Mapping[str, Any]) -> None:
    """A trainer of another version."""
    trainer.__version__ = "0.0.1"  # type: ignore[attr-defined]
    trainer.trainer(link, job)


class Accidental(Team):
    """A team whose trainers have accidents."""

    role = staticmethod(throwing_now_and_then)


class Hopeless(Team):
    """A team of which nobody gets anywhere."""

    role = staticmethod(throwing_at_once)


class Outdated(Team):
    """A team of another version."""

    role = staticmethod(from_elsewhere)


def new_team(
    size: int,
    config: LearningConfig = CONFIG,
    kind: type[Team] = Team,
    *,
    cluster: Cluster | None = None,
) -> tuple[Team, list[Event]]:
    """A team with the net of `rank_processes.new_learner`, and what it tells."""
    settings = Config(
        "connect4",
        "test",
        run=RunConfig(seed=7),
        learning=config,
        net=NetConfig(width=8, depth=1),
    )
    net = build_net(settings.net, RULES.planes_shape, RULES.num_actions, seed=3)
    events: list[Event] = []
    posts = Posts((torch.device("cpu"),), size, cluster, threads=1)
    return kind(RULES, net, config=settings, posts=posts, tell=events.append), events


def window() -> Any:
    """The rows that `rank_processes.learn_alone` learns from."""
    return random_window(RULES, 400)


def processes() -> list[psutil.Process]:
    """The trainers that are there, oldest first."""
    found = [p for p in psutil.Process().children() if "spawn_main" in " ".join(p.cmdline())]
    return sorted(found, key=lambda process: process.create_time())
