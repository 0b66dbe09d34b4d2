"""Learning together: every method on the rows of one run, timed and measured.

    python benchmarks/learners.py RUN [--devices cpu] [--updates 200] [--seconds 60] [--only NAME]

RUN is the folder of a finished `rookery train connect4 --run RUN`; each contestant learns its rows
with the same fresh net. Prints a line each:

    rows/s, how many times as fast as one trainer of one thread, CPU time a thousand rows (of use on
    a machine that others use too), share of time spent on exchanging, MB sent an update, memory of
    all trainers, and the errors of the bare net (Connect Four, all
    groups) after the same number of rows and after the same time

and then what supervision costs, and how long it takes from a kill to the next completed update.
"""

import argparse
import multiprocessing
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

import psutil
import torch
from torch import nn

from rookery.arena import SearchPlayer, strength_test_for
from rookery.gpu import find_devices, use_device
from rookery.learning import GpuLearner, Learner, LearnReport, merge_reports
from rookery.nets import CpuEvaluator, build_net
from rookery.replay import DeviceWindow, Window, read_shard
from rookery.search import SearchConfig
from rookery.training import Config, RunFolder, apply
from rookery.training.trainers.placement import TrainerPlacement
from rookery.training.trainers.pool import TrainerPool
from rookery.workers import WorkerEvent

SPAWN = multiprocessing.get_context("spawn")
EVERY_ROW = ("replay.window_max=10000000", "replay.window_min=10000000")
STEP = 32
"""Updates between two looks at the clock."""


@dataclass(frozen=True)
class PlayerSpec:
    """A way to learn."""

    name: str
    settings: tuple[str, ...] = ()
    workers: int = 1
    threads: int = 0
    """Of a learner in this process; 0 = trainers, one thread each."""
    is_uneven: bool = False
    """Whether the last trainer has to share its core."""


TOGETHER = ("learning.method=distributed",)
APART = ("learning.method=data_parallel",)
CUT = ("learning.method=pipeline",)
IN_PARTS = ("learning.accumulate=4",)
CONTESTANTS = [
    PlayerSpec("one trainer", TOGETHER),
    PlayerSpec("one process", threads=-1),
    PlayerSpec("distributed", TOGETHER, 2),
    PlayerSpec("gather_broadcast", (*TOGETHER, "learning.synchronise=gather_broadcast"), 2),
    PlayerSpec("parameter_server", (*TOGETHER, "learning.synchronise=parameter_server"), 2),
    PlayerSpec("distributed fp16", (*TOGETHER, "learning.compress=fp16"), 2),
    PlayerSpec("distributed bf16", (*TOGETHER, "learning.compress=bf16"), 2),
    PlayerSpec("distributed powersgd", (*TOGETHER, "learning.compress=powersgd"), 2),
    PlayerSpec("distributed topk", (*TOGETHER, "learning.compress=topk"), 2),
    PlayerSpec("data_parallel", APART, 2),
    PlayerSpec("data_parallel momentum", (*APART, "learning.outer_momentum=0.3"), 2),
    PlayerSpec("data_parallel topk", (*APART, "learning.compress=topk"), 2),
    PlayerSpec("uneven equal shares", (*TOGETHER, "learning.balance_every=0"), 2, is_uneven=True),
    PlayerSpec("uneven fair shares", (*TOGETHER, "learning.balance_every=16"), 2, is_uneven=True),
    PlayerSpec("one trainer in parts", (*TOGETHER, *IN_PARTS)),
    PlayerSpec("one process in parts", IN_PARTS, threads=-1),
    PlayerSpec("pipeline", CUT, 2),
    PlayerSpec("pipeline in parts", (*CUT, *IN_PARTS), 2),
    PlayerSpec("four trainers", TOGETHER, 4),
    PlayerSpec("four trainers apart", APART, 4),
]


@dataclass
class Lesson:
    """A contestant's learner, its clock and what it did."""

    learner: Any
    window: Window
    seconds: float = 0.0
    rows: int = 0

    def learn(self, updates: int = STEP) -> LearnReport:
        begin = time.perf_counter()
        report: LearnReport = self.learner.learn(self.window, updates, progress=0.0)
        self.seconds += time.perf_counter() - begin
        self.rows += report.rows
        return report


class Captured(GpuLearner):
    """Learns from the window on its device, whatever it is given."""

    def learn(self, window: Window, num_updates: int, **options: Any) -> LearnReport:
        return self.enqueue(num_updates, progress=options["progress"])()


class Bench:
    """The same net and rows for everybody."""

    def __init__(self, options: argparse.Namespace) -> None:
        folder = RunFolder(options.run)
        self.options, self.game = options, folder.game
        self.devices = find_devices(options.devices)
        settings = [f"learning.batch_size={options.batch_size}", "learning.warmup_updates=20"]
        self.config = apply(folder.config, [*settings, *EVERY_ROW, *options.set])
        self.window = Window(self.game, self.config.replay)
        for path in sorted((options.run / "replay").glob("*.shard")):
            self.window.add(read_shard(path, game=self.game))
        print(f"{len(self.window):,} rows, {options.batch_size} an update, {self.config.net}")

    def run(self, player: PlayerSpec) -> tuple[float, str]:
        """Rows a second, and a line about it."""
        config = apply(self.config, player.settings)
        with self.learner(player, config) as learner:
            lesson = Lesson(learner, self.window)
            self.warm_up(lesson, player)
            lesson.seconds, lesson.rows, reports = 0.0, 0, []
            nets: dict[str, nn.Module] = {}
            begun = cpu_seconds()
            while len(nets) < 2:
                reports.append(lesson.learn())
                if "rows" not in nets and learner.updates >= self.options.updates:
                    nets["rows"] = deepcopy(learner.play_net)
                if "time" not in nets and lesson.seconds >= self.options.seconds:
                    nets["time"] = deepcopy(learner.play_net)
            rate = lesson.rows / lesson.seconds
            cost = 1000 * (cpu_seconds() - begun) / lesson.rows
        errors = {name: self.errors_of(net) for name, net in nets.items()}
        return rate, describe(rate, cost, merge_reports(reports), errors)

    def warm_up(self, lesson: Lesson, player: PlayerSpec) -> None:
        """Until everybody has joined and the shares are settled."""
        while len(lesson.learn(1).ranks) < player.workers * (not player.threads):
            continue
        if player.is_uneven:
            share_a_core(trainers())
        lesson.learn(STEP)

    @contextmanager
    def learner(self, player: PlayerSpec, config: Config) -> Iterator[Any]:
        net = build_net(config.net, self.game.planes_shape, self.game.num_actions, seed=1)
        if player.threads:
            yield self.alone(net, config)
            return
        posts = TrainerPlacement(self.devices, player.workers, threads=1)
        team = TrainerPool(self.game, net, config=config, placement=posts, on_event=tell)
        burner = SPAWN.Process(target=burn, daemon=True)
        if player.is_uneven:
            burner.start()
        try:
            yield team
        finally:
            team.close()
            if player.is_uneven:
                burner.kill()

    def alone(self, net: nn.Module, config: Config) -> Any:
        """One process, as `learning.method = single` has it: on a GPU an update is one graph."""
        torch.set_num_threads(os.cpu_count() or 1)
        device = self.devices[0]
        if device.type == "cpu":
            return Learner(self.game, net, config=config.learning, seed=1)
        use_device(device)
        window = DeviceWindow(self.game, config.replay, device)
        window.refill([(0, self.window.samples)], len(self.window))
        return Captured(self.game, net.to(device), config=config.learning, seed=1, window=window)

    def errors_of(self, net: nn.Module) -> float:
        """Share of moves of the bare averaged net that lose game value, in percent."""
        torch.set_num_threads(os.cpu_count() or 1)
        evaluator = CpuEvaluator(
            net.cpu(), self.game.planes_shape, backend="float32", batch_size=512
        )
        player = SearchPlayer(
            self.game, evaluator, config=SearchConfig(), simulations=0, seed=1, name="net"
        )
        return strength_test_for(self.game).measure(player).errors

    def kill_one(self, method: tuple[str, ...]) -> str:
        """Seconds from a kill to the next completed update, and until there are two again."""
        player = PlayerSpec("killed", method, 2)
        with self.learner(player, apply(self.config, player.settings)) as learner:
            lesson = Lesson(learner, self.window)
            self.warm_up(lesson, player)
            victims = trainers()
            update = min(timed(lesson) for _ in range(5))
            victims[0].kill()
            alone = timed(lesson)
            begin = time.perf_counter() - alone
            while len(lesson.learn(1).ranks) < 2:
                continue
            again = time.perf_counter() - begin
        return (
            f"an update {update:.2f} s; the one after a kill {alone:.2f} s; two again {again:.1f} s"
        )


def timed(lesson: Lesson) -> float:
    begin = time.perf_counter()
    lesson.learn(1)
    return time.perf_counter() - begin


def trainers() -> list[psutil.Process]:
    """Their processes, oldest first."""
    found = [p for p in psutil.Process().children() if "spawn_main" in " ".join(p.cmdline())]
    return sorted(found, key=lambda process: process.create_time())


def cpu_seconds() -> float:
    """CPU time that this process and the trainers have taken so far."""
    times = [process.cpu_times() for process in (psutil.Process(), *trainers())]
    return sum(each.user + each.system for each in times)


def share_a_core(processes: list[psutil.Process]) -> None:
    """Two trainers on a core each, and what was started last on the second one's."""
    for process, core in zip(processes, (0, 1, 1), strict=True):
        process.cpu_affinity([core])


def burn() -> None:
    while True:
        pass


def tell(event: WorkerEvent) -> None:
    print(f"  {event.worker} {event.what}; {event.done}")


def describe(rate: float, cost: float, report: LearnReport, errors: dict[str, float]) -> str:
    said = f"{rate:.0f} rows/s, {cost:.2f} CPU s a thousand rows"
    if report.ranks:
        ranks = report.ranks
        said += (
            f", exchange {mean(r.communication for r in ranks):.1%}"
            f", supervision {mean(r.waited for r in ranks):.1%}"
            f", {ranks[0].sent_mb / max(1, ranks[0].updates):.2f} MB an update"
            f", {sum(r.memory_mb for r in ranks)} MB"
            f", shares {'/'.join(str(round(r.rows / max(1, r.updates))) for r in ranks)}"
        )
    return f"{said}; errors {errors['rows']:.1f} % by rows, {errors['time']:.1f} % by time"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("--devices", default="cpu")
    parser.add_argument("--batch-size", type=int, default=512)
    parser.add_argument("--updates", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    bench, first = Bench(options), 0.0
    for player in CONTESTANTS:
        if options.only and player.name not in options.only.split(","):
            continue
        rate, said = bench.run(player)
        first = first or rate
        print(f"{player.name}: {rate / first:.2f}x, {said}", flush=True)
    for method in (TOGETHER, CUT):
        print(f"killed trainer, {method[0]}: {bench.kill_one(method)}", flush=True)


if __name__ == "__main__":
    main()
