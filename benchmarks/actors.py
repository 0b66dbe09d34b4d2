"""Self-play by actors in other processes: how it scales, and how fast failures are repaired.

    python benchmarks/actors.py [--seconds 20]

Connect Four, width 32, depth 3, 32 simulations. Prints one line for each of these:

    1 and 2 actors of one thread, and one process that uses all cores: positions/s
    1 and 8 actors whose network sleeps, as if each had a GPU: the efficiency of 8
    the coordinator alone: messages/s and MB/s that it can take in
    watching 8 actors, and the heartbeat of one actor: shares of a core
    a killed and a hung actor: seconds until noticed, and until its replacement plays
"""

import argparse
import os
import signal
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from numpy.typing import NDArray

from rookery.games import load_game
from rookery.nets import CpuEvaluator, NetConfig, build_net
from rookery.replay import Window, from_columns, write_shard
from rookery.selfplay import CpuSelfPlay
from rookery.training import Config, apply, parts, recipe_for, to_json
from rookery.training.actors.actor import ActorReady, GamesPlayed, Play, actor
from rookery.workers import (
    Channel,
    Message,
    ProcessWorker,
    RestartPolicy,
    WorkerEvent,
    WorkerFunction,
    WorkerPool,
    pack,
    thread_limits,
    unpack,
)

SETTINGS = ["selfplay.simulations=32", "selfplay.games=256"]
MOVES = 1
GAMES = 128
SLEEP_SECONDS = 0.01
"""Time that a sleeping network takes for a batch."""
DEFAULT_POLICY = RestartPolicy()

Job = Mapping[str, Any]


def config() -> Config:
    return apply(recipe_for("connect4"), SETTINGS)


class SleepingNet:
    """An evaluator that finds every move equally good, after the time that a GPU might take."""

    def __call__(
        self, planes: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        time.sleep(SLEEP_SECONDS)
        count = len(planes)
        return np.zeros((count, 7), np.float32), np.full((count, 3), 1 / 3, np.float32)


def sleeping_actor(channel: Channel, job: Job) -> None:
    """An actor whose evaluator sleeps instead of computing."""
    vars(parts)["CpuEvaluator"] = lambda *arguments, **options: SleepingNet()
    actor(channel, job)


class Bench:
    """A pool of actors that play on order, as in a run, but without a learner."""

    def __init__(
        self, function: WorkerFunction[Job], size: int, policy: RestartPolicy = DEFAULT_POLICY
    ) -> None:
        self.events: list[tuple[float, WorkerEvent]] = []
        self.workers: dict[int, ProcessWorker] = {}
        self.positions = self.messages = 0
        self._function, self._orders = function, 0
        self.pool = WorkerPool("actor", size, self._start, policy=policy, on_event=self._keep)

    def run(self, seconds: float) -> float:
        """Return positions per second of a period that begins and ends with a message."""
        self.wait_for_message()
        begun, before = time.monotonic(), self.positions
        while time.monotonic() - begun < seconds:
            self.step()
        self.wait_for_message()
        return (self.positions - before) / (time.monotonic() - begun)

    def wait_for_message(self) -> None:
        known = self.messages
        while self.messages == known:
            self.step()

    def warm_up(self, size: int) -> None:
        """Wait until all actors have played twice or more."""
        while len(self.pool.ready()) < size or self.messages < 3 * size:
            self.step()

    def step(self) -> list[tuple[int, Message]]:
        """Return what the actors have sent, and give new orders."""
        found = self.pool.poll()
        for number, message in found:
            match message:
                case ActorReady():
                    self._order(number)
                    self._order(number)
                case GamesPlayed():
                    self.messages += 1
                    self.positions += message.report.positions
                    self._order(number)
        if not found:
            time.sleep(0.005)
        return found

    def _order(self, number: int) -> None:
        self._orders += 1
        self.pool.send(number, Play(self._orders, MOVES, progress=0.5, iteration=0))

    def _start(self, name: str, number: int, incarnation: int) -> ProcessWorker:
        job = {
            "config": to_json(config()),
            "digest": "",
            "device": "cpu",
            "games": GAMES,
            "backend": "float32",
            "number": number,
            "incarnation": incarnation,
        }
        worker = ProcessWorker(name, self._function, job, environment=thread_limits(1))
        self.workers[number] = worker
        return worker

    def _keep(self, event: WorkerEvent) -> None:
        self.events.append((time.monotonic(), event))


def pool_rate(function: WorkerFunction[Job], size: int, seconds: float) -> float:
    """Return positions per second of a pool of `size` actors."""
    bench = Bench(function, size)
    bench.warm_up(size)
    rate = bench.run(seconds)
    bench.pool.close()
    return rate


def supervision(seconds: float) -> tuple[float, float]:
    """Return shares of a core: polling 8 actors 100 times per second, and one idle actor."""
    bench = Bench(sleeping_actor, 8)
    while len(bench.pool.ready()) < 8:
        bench.pool.poll()
    begun, calls = time.perf_counter(), 0
    while time.perf_counter() - begun < seconds:
        bench.pool.poll()
        calls += 1
    poll_seconds = (time.perf_counter() - begun) / calls
    process = psutil.Process(bench.workers[0].pid)
    before = sum(process.cpu_times()[:2])
    time.sleep(seconds)
    idle = (sum(process.cpu_times()[:2]) - before) / seconds
    bench.pool.close()
    return 100 * poll_seconds, idle


def one_process_rate(seconds: float) -> float:
    """Return the rate of one process with threads on all cores and as many games as two actors."""
    game, settings = load_game("connect4"), config()
    net = build_net(NetConfig(width=32, depth=3), game.planes_shape, game.num_actions)
    evaluator = CpuEvaluator(net, game.planes_shape, backend="float32", batch_size=2 * GAMES)
    selfplay = CpuSelfPlay(
        game, evaluator, config=settings.selfplay, search=settings.search, seed=1
    )
    selfplay.play(MOVES, progress=0.5, iteration=0)
    begun, positions = time.monotonic(), 0
    while time.monotonic() - begun < seconds:
        positions += selfplay.play(MOVES, progress=0.5, iteration=0).report.positions
    return positions / (time.monotonic() - begun)


def intake() -> tuple[float, float]:
    """Return messages/s and MB/s that a coordinator unpacks, adds to its window and writes."""
    game, payload = load_game("connect4"), first_games()
    window = Window(game, recipe_for("connect4").replay)
    with tempfile.TemporaryDirectory() as folder:
        begun, count = time.monotonic(), 0
        while time.monotonic() - begun < 3.0:
            message = unpack(payload)
            assert isinstance(message, GamesPlayed)
            rows = from_columns(message.columns, game=game)
            window.add(rows)
            write_shard(Path(folder) / f"{count}.shard", rows, game=game)
            count += 1
        rate = count / (time.monotonic() - begun)
    return rate, rate * len(payload) / 1e6


def first_games() -> bytes:
    """Return the first message of an actor that holds finished games, packed."""
    bench = Bench(actor, 1)
    while True:
        for _, message in bench.step():
            if isinstance(message, GamesPlayed) and message.report.games:
                bench.pool.close()
                return pack(message)


def repair(number: int) -> tuple[float, float]:
    """Return seconds from a signal until it is noticed, and until the replacement's first games."""
    bench = Bench(actor, 2, RestartPolicy(silence_seconds=5.0))
    bench.warm_up(2)
    bench.events.clear()
    begun = time.monotonic()
    os.kill(bench.workers[0].pid, number)
    while not bench.events:
        bench.step()
    noticed = bench.events[0][0] - begun
    while not any(n == 0 and isinstance(message, GamesPlayed) for n, message in bench.step()):
        pass
    bench.pool.close()
    return noticed, time.monotonic() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=20.0)
    seconds = parser.parse_args().seconds
    one, two = pool_rate(actor, 1, seconds), pool_rate(actor, 2, seconds)
    default = one_process_rate(seconds)
    print(
        f"1 actor {one:.1f} positions/s, 2 actors {two:.1f} ({two / one:.2f} times); "
        f"one process on all cores {default:.1f}",
        flush=True,
    )
    alone, eight = pool_rate(sleeping_actor, 1, seconds), pool_rate(sleeping_actor, 8, seconds)
    print(
        f"sleeping networks: 1 actor {alone:.1f} positions/s, 8 actors {eight:.1f}, "
        f"efficiency {eight / alone / 8:.3f}",
        flush=True,
    )
    messages, megabytes = intake()
    print(f"the coordinator takes in {messages:.0f} messages/s, {megabytes:.1f} MB/s", flush=True)
    polling, idle = supervision(10.0)
    print(
        f"polling 8 actors 100 times per second takes {polling:.2%} of a core, "
        f"an idle actor with its heartbeat {idle:.2%}",
        flush=True,
    )
    for name, number in (("killed", signal.SIGKILL), ("hung", signal.SIGSTOP)):
        noticed, replaced = repair(number)
        print(f"{name}: noticed after {noticed:.2f} s, replaced after {replaced:.2f} s", flush=True)


if __name__ == "__main__":
    main()
