"""Trainers that fail, and pools of them."""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from rank_processes import TOGETHER, random_window
from rookery.games import load_game
from rookery.learning import LearningConfig, RankLearner
from rookery.nets import NetConfig, build_net
from rookery.replay import ReplayConfig
from rookery.training import Config, RunConfig
from rookery.training.trainers import trainer
from rookery.training.trainers.placement import TrainerPlacement
from rookery.training.trainers.pool import TrainerPool
from rookery.training.trainers.trainer import TrainerJob
from rookery.workers import Channel, Cluster, WorkerEvent

RULES = load_game("connect4")
CONFIG = replace(TOGETHER, silence_seconds=60.0)
"""A busy machine does not make trainers look hung."""
IMPATIENT = replace(CONFIG, silence_seconds=4.0)
RUN, REPLAY = RunConfig(seed=7), ReplayConfig()


class Fallible(RankLearner):
    """A rank that fails after `batches_left` batches; every second process runs out of memory."""

    batches_left = 0

    def _batch(self, window: Any, number: int) -> Any:
        if Fallible.batches_left <= 0:
            if os.getpid() % 2:
                raise MemoryError("out of memory, on purpose")
            raise ValueError("an error, on purpose")
        Fallible.batches_left -= 1
        return super()._batch(window, number)


class ShortOfMemory(RankLearner):
    """A rank whose device has no memory for more than `max_rows` rows at once."""

    max_rows = 12

    def _batch(self, window: Any, number: int) -> Any:
        if len(self.offsets) // self.config.accumulate > self.max_rows:
            raise torch.OutOfMemoryError("out of memory, on purpose")
        return super()._batch(window, number)


class Hanging(RankLearner):
    """A rank that hangs at its 40th batch, if it is the first to create the file HANG_ONCE."""

    def _batch(self, window: Any, number: int) -> Any:
        with suppress(FileExistsError):
            if number >= 40:
                Path(os.environ["HANG_ONCE"]).touch(exist_ok=False)
                time.sleep(600)
        return super()._batch(window, number)


def start_when_allowed(channel: Channel, job: TrainerJob) -> None:
    """Train as soon as the file MAY_START exists; the heart beats meanwhile."""
    while not Path(os.environ["MAY_START"]).exists():
        time.sleep(0.05)
    trainer.trainer(channel, job)


def hang_once(channel: Channel, job: TrainerJob) -> None:
    """Train, but hang once, with a beating heart."""
    vars(trainer)["RankLearner"] = Hanging
    trainer.trainer(channel, job)


def learn_in_little_memory(channel: Channel, job: TrainerJob) -> None:
    """Train on a device that has little memory."""
    vars(trainer)["RankLearner"] = ShortOfMemory
    trainer.trainer(channel, job)


def fail_now_and_then(channel: Channel, job: TrainerJob) -> None:
    """Train, but fail after about fifty batches."""
    Fallible.batches_left = int(np.random.default_rng(os.getpid()).integers(40, 56))
    vars(trainer)["RankLearner"] = Fallible
    trainer.trainer(channel, job)


def fail_at_once(channel: Channel, job: TrainerJob) -> None:
    """Fail at the first batch."""
    vars(trainer)["RankLearner"] = Fallible
    trainer.trainer(channel, job)


def another_version(channel: Channel, job: TrainerJob) -> None:
    """Train with another version of Rookery."""
    vars(trainer)["__version__"] = "0.0.1"
    trainer.trainer(channel, job)


class UnreliablePool(TrainerPool):
    """A pool whose trainers fail now and then."""

    worker_function = staticmethod(fail_now_and_then)


class HeldPool(TrainerPool):
    """A pool whose trainers, also those that replace others, start when they may."""

    worker_function = staticmethod(start_when_allowed)


class HangingPool(TrainerPool):
    """A pool of which one trainer hangs once."""

    worker_function = staticmethod(hang_once)


class ShortOfMemoryPool(TrainerPool):
    """A pool whose trainers have little memory."""

    worker_function = staticmethod(learn_in_little_memory)


class HopelessPool(TrainerPool):
    """A pool whose trainers never make an update."""

    worker_function = staticmethod(fail_at_once)


class OutdatedPool(TrainerPool):
    """A pool of trainers of another version."""

    worker_function = staticmethod(another_version)


def new_pool(
    size: int,
    config: LearningConfig = CONFIG,
    kind: type[TrainerPool] = TrainerPool,
    *,
    cluster: Cluster | None = None,
    run: RunConfig = RUN,
    replay: ReplayConfig = REPLAY,
    shard_path: Callable[[int], Path] | None = None,
) -> tuple[TrainerPool, list[WorkerEvent]]:
    """A pool with the network of `rank_processes.new_learner`, and the list of its events."""
    settings = Config(
        "connect4",
        "test",
        run=run,
        learning=config,
        replay=replay,
        net=NetConfig(width=8, depth=1),
    )
    net = build_net(settings.net, RULES.planes_shape, RULES.num_actions, seed=3)
    events: list[WorkerEvent] = []
    placement = TrainerPlacement((torch.device("cpu"),), size, cluster, threads=1)
    pool = kind(
        RULES,
        net,
        config=settings,
        placement=placement,
        on_event=events.append,
        shard_path=shard_path,
    )
    return pool, events


def window() -> Any:
    """The window that `rank_processes.learn_alone` learns from."""
    return random_window(RULES, 400)
