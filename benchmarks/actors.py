"""Self-play by actors in processes of their own: how it scales, and how fast faults are mended.

    python benchmarks/actors.py [--seconds 20]

Connect Four, width 32, depth 3, 32 simulations. Prints a line each:

    1 and 2 actors of one thread, and one process that uses both cores: positions/s
    1 and 8 actors whose net is a sleep, as if each had a GPU: what the coordinator leaves of it
    the coordinator alone: messages and MB a second that it could take in
    watching 8 actors, and one actor's heartbeat: shares of a core
    a killed and a hung actor: seconds until noticed, and until another one plays
"""

import argparse
import os
import signal
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from rookery.games import load_game
from rookery.nets import CpuEvaluator, NetConfig, build_net
from rookery.replay import Samples, Window, from_columns, write_shard
from rookery.selfplay import SelfPlay
from rookery.training import apply, recipe_for, to_json
from rookery.training.actors import engines as seats
from rookery.training.actors.actor import actor, thread_limits
from rookery.workers import Channel, Message, ProcessWorker, RestartPolicy, WorkerEvent, WorkerPool

SETTINGS = ["selfplay.simulations=32", "selfplay.games=256"]
MOVES = 1
GAMES = 128
SLEEP_SECONDS = 0.01
"""A sleeping net's answer to a batch."""


def config() -> Any:
    return apply(recipe_for("connect4"), SETTINGS)


class SleepingNet:
    """Finds every move equally good, after the time that a GPU might take."""

    def __call__(self, planes: Any) -> tuple[Any, Any]:
        time.sleep(SLEEP_SECONDS)
        count = len(planes)
        return np.zeros((count, 7), np.float32), np.full((count, 3), 1 / 3, np.float32)


def sleeping_actor(link: Channel, job: Mapping[str, Any]) -> None:
    """An actor whose evaluator sleeps instead of computing."""
    seats.Evaluator = lambda *arguments, **options: SleepingNet()
    actor(link, job)


class Bench:
    """A crew that plays on order, as in a run, but nobody learns."""

    def __init__(self, role: Callable[..., None], size: int, limits: RestartPolicy) -> None:
        self.events: list[tuple[float, WorkerEvent]] = []
        self.workers: dict[int, ProcessWorker] = {}
        self.positions = self.messages = 0
        self._role, self._orders = role, 0
        self.crew = WorkerPool("actor", size, self._start, limits=limits, tell=self._tell)

    def run(self, seconds: float) -> float:
        """Positions a second over a stretch that begins and ends with a message."""
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
        """Until everybody has played twice."""
        while len(self.crew.ready()) < size or self.messages < 3 * size:
            self.step()

    def step(self) -> list[tuple[int, Message]]:
        found = self.crew.poll()
        for number, message in found:
            orders = 2 if message.kind == "ready" else 1
            if message.kind == "games":
                self.messages += 1
                self.positions += message.header["report"]["positions"]
            for _ in range(orders):
                self._order(number)
        if not found:
            time.sleep(0.005)
        return found

    def _order(self, number: int) -> None:
        self._orders += 1
        header = {"order": self._orders, "moves": MOVES, "progress": 0.5, "iteration": 0}
        self.crew.send(number, Message("play", header))

    def _start(self, name: str, number: int, incarnation: int) -> ProcessWorker:
        job = {
            "config": to_json(config()),
            "digest": "",
            "device": "cpu",
            "games": GAMES,
            "inference": "float32",
            "number": number,
            "incarnation": incarnation,
        }
        self.workers[number] = ProcessWorker(name, self._role, job, environment=thread_limits(1))
        return self.workers[number]

    def _tell(self, event: WorkerEvent) -> None:
        self.events.append((time.monotonic(), event))


def crew_rate(role: Callable[..., None], size: int, seconds: float) -> float:
    bench = Bench(role, size, RestartPolicy())
    bench.warm_up(size)
    rate = bench.run(seconds)
    bench.crew.close()
    return rate


def supervision(seconds: float) -> tuple[float, float]:
    """Shares of a core: looking after 8 workers 100 times a second, and one worker's heartbeat."""
    bench = Bench(sleeping_actor, 8, RestartPolicy())
    while len(bench.crew.ready()) < 8:
        bench.crew.poll()
    begun, calls = time.perf_counter(), 0
    while time.perf_counter() - begun < seconds:
        bench.crew.poll()
        calls += 1
    look = (time.perf_counter() - begun) / calls
    process = psutil.Process(bench.workers[0].pid)
    before = sum(process.cpu_times()[:2])
    time.sleep(seconds)
    beat = (sum(process.cpu_times()[:2]) - before) / seconds
    bench.crew.close()
    return 100 * look, beat


def one_process_rate(seconds: float) -> float:
    """The default: one process, its threads on all cores, the same number of games in all."""
    rules, settings = load_game("connect4"), config()
    net = build_net(NetConfig(width=32, depth=3), rules.planes_shape, rules.num_actions)
    evaluator = CpuEvaluator(net, rules.planes_shape, backend="float32", batch_size=2 * GAMES)
    selfplay = SelfPlay(rules, evaluator, config=settings.selfplay, search=settings.search, seed=1)
    selfplay.play(MOVES, progress=0.5)
    begun, positions = time.monotonic(), 0
    while time.monotonic() - begun < seconds:
        positions += selfplay.play(MOVES, progress=0.5)[1].positions
    return positions / (time.monotonic() - begun)


def intake() -> tuple[float, float]:
    """Messages and MB a second that a coordinator can unpack, keep in its window and on disk."""
    rules = load_game("connect4")
    bench = Bench(actor, 1, RestartPolicy())
    while not (messages := [m for _, m in bench.step() if m.kind == "games" and m.arrays]):
        pass
    bench.crew.close()
    payload = messages[0].pack()
    window = Window(rules, recipe_for("connect4").replay)
    with tempfile.TemporaryDirectory() as folder:
        begun, count = time.monotonic(), 0
        while time.monotonic() - begun < 3.0:
            samples: Samples = from_columns(Message.unpack(payload).arrays, game=rules)
            window.add(samples)
            write_shard(Path(folder) / f"{count}.shard", samples, game=rules)
            count += 1
        rate = count / (time.monotonic() - begun)
    return rate, rate * len(payload) / 1e6


def mending(number: int) -> tuple[float, float]:
    """Seconds until a fault is noticed, and until the next game of that place arrives."""
    bench = Bench(actor, 2, RestartPolicy(silence_seconds=5.0))
    bench.warm_up(2)
    begun = time.monotonic()
    os.kill(bench.workers[0].pid, number)
    while not bench.events:
        bench.step()
    noticed = bench.events[0][0] - begun
    while not any(place == 0 and m.kind == "games" for place, m in bench.step()):
        pass
    bench.crew.close()
    return noticed, time.monotonic() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=20.0)
    seconds = parser.parse_args().seconds
    one, two = crew_rate(actor, 1, seconds), crew_rate(actor, 2, seconds)
    default = one_process_rate(seconds)
    print(
        f"1 actor {one:.1f} positions/s, 2 actors {two:.1f} ({two / one:.2f} times); "
        f"one process on all cores {default:.1f}",
        flush=True,
    )
    alone, eight = crew_rate(sleeping_actor, 1, seconds), crew_rate(sleeping_actor, 8, seconds)
    print(
        f"sleeping nets: 1 actor {alone:.1f} positions/s, 8 actors {eight:.1f}, "
        f"efficiency {eight / alone / 8:.3f}",
        flush=True,
    )
    messages, megabytes = intake()
    print(f"the coordinator takes in {messages:.0f} messages/s, {megabytes:.1f} MB/s", flush=True)
    looking, beating = supervision(10.0)
    print(
        f"looking after 8 actors 100 times a second takes {looking:.2%} of a core, "
        f"an idle actor with its heartbeat {beating:.2%}",
        flush=True,
    )
    for name, number in (("killed", signal.SIGKILL), ("hung", signal.SIGSTOP)):
        noticed, mended = mending(number)
        print(f"{name}: noticed after {noticed:.2f} s, replaced after {mended:.2f} s", flush=True)


if __name__ == "__main__":
    main()
