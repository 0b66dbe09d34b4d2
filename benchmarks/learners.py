"""Learning with several trainers: every method on the rows of one run, timed and measured.

    python benchmarks/learners.py RUN [--devices cpu] [--updates 200] [--seconds 60] [--step 32]
                                  [--only NAME,NAME]

RUN is the folder of a finished `rookery train connect4 --run RUN`; every method learns its rows
with the same new network. Prints one line per method:

    rows/s, how many times as fast as one trainer of one thread, CPU time per thousand rows (useful
    on a machine that others use, too), share of time spent on communication, MB sent and received
    per update, memory of all trainers, and the errors of the network without search (Connect Four,
    all groups) after the same number of rows and after the same time

and then, without --only, how long it takes from a kill to the next completed update.
"""

import argparse
import multiprocessing
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean

import psutil
import torch
from torch import nn

from rookery.arena import SearchPlayer, strength_test_for
from rookery.base import available_cores
from rookery.gpu import find_devices
from rookery.learning import LearnReport, merge_reports
from rookery.nets import CpuEvaluator, build_net
from rookery.replay import ReplayConfig, Window, concatenate, count, read_shard
from rookery.search import SearchConfig
from rookery.training import Config, RunFolder, apply
from rookery.training.parts import new_learner, new_window
from rookery.training.roles import Learner as AnyLearner
from rookery.training.trainers.placement import TrainerPlacement
from rookery.training.trainers.pool import TrainerPool
from rookery.workers import WorkerEvent

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from worker_processes import worker_processes

SPAWN = multiprocessing.get_context("spawn")


@dataclass(frozen=True)
class Method:
    """A way to learn."""

    name: str
    settings: tuple[str, ...] = ()
    workers: int = 1
    is_local: bool = False
    """Whether the learner is in this process and uses all cores; trainers have one thread each."""
    is_uneven: bool = False
    """Whether the last trainer shares its core with another process."""


TOGETHER = ("learning.method=distributed",)
APART = ("learning.method=data_parallel",)
CUT = ("learning.method=pipeline",)
IN_PARTS = ("learning.accumulate=4",)
METHODS = [
    Method("one trainer", TOGETHER),
    Method("one process", is_local=True),
    Method("distributed", TOGETHER, 2),
    Method("gather_broadcast", (*TOGETHER, "learning.synchronise=gather_broadcast"), 2),
    Method("parameter_server", (*TOGETHER, "learning.synchronise=parameter_server"), 2),
    Method("distributed fp16", (*TOGETHER, "learning.compress=fp16"), 2),
    Method("distributed bf16", (*TOGETHER, "learning.compress=bf16"), 2),
    Method("distributed powersgd", (*TOGETHER, "learning.compress=powersgd"), 2),
    Method("distributed topk", (*TOGETHER, "learning.compress=topk"), 2),
    Method("data_parallel", APART, 2),
    Method("data_parallel momentum", (*APART, "learning.outer_momentum=0.3"), 2),
    Method("data_parallel topk", (*APART, "learning.compress=topk"), 2),
    Method("uneven equal shares", (*TOGETHER, "learning.balance_every=0"), 2, is_uneven=True),
    Method("uneven fair shares", (*TOGETHER, "learning.balance_every=16"), 2, is_uneven=True),
    Method("one trainer in parts", (*TOGETHER, *IN_PARTS)),
    Method("one process in parts", IN_PARTS, is_local=True),
    Method("pipeline", CUT, 2),
    Method("pipeline in parts", (*CUT, *IN_PARTS), 2),
    Method("four trainers", TOGETHER, 4),
    Method("four trainers apart", APART, 4),
]


class Lesson:
    """A learner with its window, and what it did in which time."""

    def __init__(self, learner: AnyLearner, window: Window) -> None:
        self.learner, self.window = learner, window
        self.seconds, self.rows = 0.0, 0

    def learn(self, updates: int) -> LearnReport:
        """Make updates and wait for them."""
        begin, learner = time.perf_counter(), self.learner
        learned = learner.learn(self.window, updates, progress=0.0, check=lambda: None)
        report = learned or learner.drain()
        assert report is not None
        self.seconds += time.perf_counter() - begin
        self.rows += report.rows
        return report


class Bench:
    """The same network and rows for every method."""

    def __init__(self, options: argparse.Namespace) -> None:
        folder = RunFolder(options.run)
        self.options, self.game = options, folder.game
        self.devices = find_devices(options.devices)
        paths = sorted((options.run / "replay").glob("*"))
        self.rows = concatenate([read_shard(path, game=self.game) for path in paths])
        settings = [f"learning.batch_size={options.batch_size}", "learning.warmup_updates=20"]
        every_row = ReplayConfig(window_min=count(self.rows), window_max=count(self.rows))
        config = apply(folder.config, [*settings, *options.set])
        self.config = replace(config, replay=every_row)
        print(f"{count(self.rows):,} rows, {options.batch_size} per update, {self.config.net}")

    def run(self, method: Method) -> tuple[float, str]:
        """Return rows per second, and a line about the method."""
        config = apply(self.config, method.settings)
        with self.lesson(method, config) as lesson:
            self.warm_up(lesson, method)
            learner, reports = lesson.learner, []
            lesson.seconds, lesson.rows = 0.0, 0
            nets: dict[str, nn.Module] = {}
            begun = cpu_seconds()
            while len(nets) < 2:
                reports.append(lesson.learn(self.options.step))
                if "rows" not in nets and learner.updates >= self.options.updates:
                    nets["rows"] = deepcopy(learner.play_net)
                if "time" not in nets and lesson.seconds >= self.options.seconds:
                    nets["time"] = deepcopy(learner.play_net)
            rate = lesson.rows / lesson.seconds
            cost = 1000 * (cpu_seconds() - begun) / lesson.rows
        errors = {name: self.errors_of(net) for name, net in nets.items()}
        return rate, describe(rate, cost, merge_reports(reports), errors)

    def warm_up(self, lesson: Lesson, method: Method) -> None:
        """Learn until all trainers have joined and their shares are settled."""
        while len(lesson.learn(1).worked) < method.workers * (not method.is_local):
            continue
        if method.is_uneven:
            share_a_core(worker_processes())
        lesson.learn(self.options.step)

    @contextmanager
    def lesson(self, method: Method, config: Config) -> Iterator[Lesson]:
        """Return a learner of a new network; end its trainers afterwards."""
        net = build_net(config.net, self.game.planes_shape, self.game.num_actions, seed=1)
        if method.is_local:
            yield self.local(net, config)
            return
        placement = TrainerPlacement(self.devices, method.workers, threads=1)
        pool = TrainerPool(self.game, net, config=config, placement=placement, on_event=show)
        burner = SPAWN.Process(target=burn, daemon=True)
        if method.is_uneven:
            burner.start()
        try:
            yield Lesson(pool, self.window(torch.device("cpu")))
        finally:
            pool.close()
            if method.is_uneven:
                burner.kill()

    def local(self, net: nn.Module, config: Config) -> Lesson:
        """Return a learner in this process, as `learning.method = single` has it."""
        torch.set_num_threads(available_cores())
        device = self.devices[0]
        learner = new_learner(
            self.game,
            net,
            config.learning,
            device=device,
            seed=1,
            on_smaller_parts=lambda config: print(f"  learning in {config.accumulate} parts"),
        )
        return Lesson(learner, self.window(device))

    def window(self, device: torch.device) -> Window:
        """Return a window with all rows."""
        window = new_window(self.game, self.config.replay, device)
        window.add(self.rows)
        return window

    def errors_of(self, net: nn.Module) -> float:
        """Return the percentage of moves without search that lose game value."""
        torch.set_num_threads(available_cores())
        evaluator = CpuEvaluator(
            net.cpu(), self.game.planes_shape, backend="float32", batch_size=512
        )
        player = SearchPlayer(
            self.game, evaluator, config=SearchConfig(), simulations=0, seed=1, name="net"
        )
        return strength_test_for(self.game).measure(player).errors

    def kill_one(self, settings: tuple[str, ...]) -> str:
        """Measure from a kill to the next completed update, and until there are two trainers."""
        method = Method("killed", settings, 2)
        with self.lesson(method, apply(self.config, settings)) as lesson:
            self.warm_up(lesson, method)
            victims = worker_processes()
            update = min(timed(lesson) for _ in range(5))
            victims[0].kill()
            alone = timed(lesson)
            begin = time.perf_counter() - alone
            while len(lesson.learn(1).worked) < 2:
                continue
            again = time.perf_counter() - begin
        return (
            f"an update {update:.2f} s; the one after a kill {alone:.2f} s; "
            f"two trainers again {again:.1f} s"
        )


def timed(lesson: Lesson) -> float:
    begin = time.perf_counter()
    lesson.learn(1)
    return time.perf_counter() - begin


def cpu_seconds() -> float:
    """Return the CPU time of this process and the trainers so far."""
    times = [process.cpu_times() for process in (psutil.Process(), *worker_processes())]
    return float(sum(each.user + each.system for each in times))


def share_a_core(processes: list[psutil.Process]) -> None:
    """Bind the first process to one core, and the other two to another one."""
    for process, core in zip(processes, (0, 1, 1), strict=True):
        process.cpu_affinity([core])


def burn() -> None:
    while True:
        pass


def show(event: WorkerEvent) -> None:
    print(f"  {event}")


def describe(rate: float, cost: float, report: LearnReport, errors: dict[str, float]) -> str:
    line = f"{rate:.0f} rows/s, {cost:.2f} CPU s per thousand rows"
    if ranks := report.worked:
        line += (
            f", communication {mean(r.communication for r in ranks):.1%}"
            f", idle {mean(r.waited for r in ranks):.1%}"
            f", {ranks[0].sent_mb / max(1, ranks[0].updates):.2f} MB sent"
            f" and {ranks[0].received_mb / max(1, ranks[0].updates):.2f} MB received per update"
            f", {sum(r.memory_mb for r in ranks)} MB of host memory"
            f", {sum(r.device_mb for r in ranks)} MB of GPU memory"
            f", shares {'/'.join(str(round(r.rows / max(1, r.updates))) for r in ranks)}"
        )
    return f"{line}; errors {errors['rows']:.1f} % by rows, {errors['time']:.1f} % by time"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("--devices", default="cpu")
    parser.add_argument("--batch-size", type=int, default=512)
    parser.add_argument("--updates", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument(
        "--step", type=int, default=32, help="updates between readings of the clock"
    )
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    bench, first = Bench(options), 0.0
    for method in METHODS:
        if options.only and method.name not in options.only.split(","):
            continue
        rate, line = bench.run(method)
        first = first or rate
        print(f"{method.name}: {rate / first:.2f}x, {line}", flush=True)
    for settings in (TOGETHER, CUT) if not options.only else ():
        print(f"killed trainer, {settings[0]}: {bench.kill_one(settings)}", flush=True)


if __name__ == "__main__":
    main()
