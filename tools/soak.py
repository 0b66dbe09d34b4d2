"""A training run under random faults, compared with an undisturbed one.

    python tools/soak.py [--faults 1000] [--every 5.4] [--seed 1] [--partitions 5]
                         [--undisturbed 3] [--compare DIR] [--folder DIR] [--json FILE]

Trains Tic-Tac-Toe with two actors, two trainers and measurements of strength while faults are
injected at random, by a seed; ends the run in order, repeats it without faults from other seeds,
and checks what docs/reliability.md promises. Prints the faults, the figures and one line per
check; the exit code is 1 if a check fails. Needs Linux; without root, some kinds of faults are left
out.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path

import numpy as np
import psutil
from soak_checks import (
    Check,
    Sample,
    check_growth,
    check_left_over,
    check_outputs,
    check_pauses,
    check_rows,
    check_strength,
    check_updates,
    count_events,
    last_iteration,
    print_checks,
)
from soak_faults import BALLAST, Faults
from soak_partitions import partition

from rookery.training.store.checkpoint import Checkpoint

WRAPPER = Path(__file__).with_name("soak_run.py")
MARK = "ROOKERY_SOAK"
"""The variable that all processes of a run inherit: its control folder."""
SETTINGS = (
    "run.actors=2",
    "run.iterations=1000000",
    "run.checkpoint_every=3",
    "run.strength_every=10",
    "run.strength_simulations=2",
    "net.width=8",
    "net.depth=1",
    "selfplay.games=64",
    "selfplay.simulations=8",
    "selfplay.opening_share=0",  # every move of a game is a row: rows can be counted
    "replay.window_min=2000",
    "replay.window_max=6000",
    "learning.method=distributed",
    "learning.workers=2",
    "learning.batch_size=64",
    "learning.final_rate=1",  # the length of the run does not change the learning rate
)
DISK_SIZE = "256m"
SAMPLE_SECONDS = 2.0
START_SECONDS = 300.0
"""Time for the first iteration, which may compile all kernels."""
END_SECONDS = 300.0


class TrainingRun:
    """A run of the command line that is resumed whenever it ends."""

    def __init__(self, folder: Path, disk: Path | None) -> None:
        self.control, self.disk = folder / "control", disk
        self.control.mkdir(parents=True)
        self.path = (disk or folder) / "run"
        self.output = folder / "output.txt"
        self.resumes = 0
        self.mistakes: list[str] = []
        """Ends of the coordinator that no fault explains, and workers that outlived it."""
        self._allowed: dict[int, float] = {}
        """Exit codes that are expected, with the time until then."""
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, *settings: str) -> None:
        """Start the run."""
        words = [word for setting in (*SETTINGS, *settings) for word in ("--set", setting)]
        self._call("train", "tictactoe", "--run", str(self.path), *words)

    def resume(self, *settings: str) -> None:
        """Resume the run."""
        words = [word for setting in settings for word in ("--set", setting)]
        self._call("resume", str(self.path), *words)

    def coordinator(self) -> psutil.Process:
        """Return the process that was started last."""
        assert self._process is not None
        return psutil.Process(self._process.pid)

    def expect_end(self, *codes: int, seconds: float) -> None:
        """Allow the coordinator to end with these exit codes within some seconds."""
        self._allowed |= dict.fromkeys(codes, time.monotonic() + seconds)

    def attend(self) -> None:
        """Resume the run if it has ended, once there is room on the disk."""
        assert self._process is not None
        code = self._process.poll()
        if code is None or (self.disk and (self.disk / BALLAST).exists()):
            return
        if self._allowed.get(code, 0.0) < time.monotonic():
            self.mistakes.append(f"the coordinator ended with exit code {code}")
        if not self.wait_for_no_process(10.0):
            self.mistakes.append(f"outlived the coordinator: {self.processes()}")
        self._allowed = {}
        self.resumes += 1
        self.resume()

    def wait(self, seconds: float) -> int | None:
        """Wait for the end of the coordinator; return its exit code, None if it is too late."""
        assert self._process is not None
        with suppress(subprocess.TimeoutExpired):
            return self._process.wait(seconds)
        return None

    def processes(self) -> list[psutil.Process]:
        """Return all processes of the run, whoever their parents are."""
        found = []
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                if process.environ().get(MARK) == str(self.control):
                    found.append(process)
        return found

    def wait_for_no_process(self, seconds: float) -> bool:
        """Return whether all processes of the run end within some seconds."""
        end = time.monotonic() + seconds
        while self.processes() and time.monotonic() < end:
            time.sleep(0.1)
        return not self.processes()

    def kill_all(self) -> None:
        """Kill whatever is left of the run."""
        for process in self.processes():
            with suppress(psutil.Error):
                process.kill()
        if self._process is not None:
            self._process.wait()

    def _call(self, *words: str) -> None:
        with self.output.open("ab") as output:
            self._process = subprocess.Popen(
                [sys.executable, str(WRAPPER), *words],
                env={**os.environ, MARK: str(self.control)},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )


class Campaign:
    """Faults against a run, and what is seen of it meanwhile."""

    def __init__(self, run: TrainingRun, dice: np.random.Generator) -> None:
        self.run, self.faults = run, Faults(run, dice)
        self.log = run.output.with_name("faults.txt")
        self.samples: list[Sample] = []
        self._sampled_at = 0.0

    def strike(self, number: int, *, every: float) -> None:
        """Inject faults, one every few seconds; spare the coordinator in the second half.

        Its last life is long, so that a leak shows.
        """
        done, next_at = 0, time.monotonic()
        while done < number:
            if time.monotonic() >= next_at:
                kind = self.faults.strike(may_end_coordinator=2 * done < number)
                if kind:
                    done, next_at = done + 1, time.monotonic() + every
                    self._report(done, kind)
            self.attend()

    def wait_for_iterations(self, count: int, seconds: float) -> None:
        """Attend to the run until it has made some iterations more, or for some seconds."""
        goal, end = last_iteration(self.run.path) + count, time.monotonic() + seconds
        while last_iteration(self.run.path) < goal and time.monotonic() < end:
            self.attend()

    def attend(self) -> None:
        """End faults whose time is over, resume the run if it has ended, and take samples."""
        time.sleep(0.1)
        self.faults.tick()
        self.run.attend()
        if time.monotonic() - self._sampled_at >= SAMPLE_SECONDS:
            self._sampled_at = time.monotonic()
            with suppress(psutil.Error):
                self.samples.append(Sample.take(self.run.coordinator(), self.run.path))

    def _report(self, done: int, kind: str) -> None:
        """Log a fault, and print one line for every fifty."""
        iteration = last_iteration(self.run.path)
        with self.log.open("a") as log:
            log.write(f"{time.strftime('%H:%M:%S')} iteration {iteration}: {kind}\n")
        if done % 50 == 0:
            print(f"{done} faults, iteration {iteration}", flush=True)


def finish(run: TrainingRun) -> tuple[int, Check]:
    """End a run in order: stop it, and let it finish where it is; return its last iteration."""
    run.coordinator().terminate()
    stopped = run.wait(END_SECONDS)
    found = Checkpoint.load(run.path)
    iteration = found.position.iteration if found else 0
    run.resume(f"run.iterations={iteration}")
    finished = run.wait(END_SECONDS)
    is_gone = run.wait_for_no_process(10.0)
    what = f"the run ends in order: exit codes {stopped} and {finished}, all processes ended"
    return iteration, Check(what, stopped == finished == 0 and is_gone)


def undisturbed_run(folder: Path, iterations: int, seed: int) -> Path:
    """Make as many iterations without faults; return the folder of the run."""
    print(f"undisturbed run of {iterations} iterations, seed {seed}", flush=True)
    run = TrainingRun(folder, None)
    try:
        run.start(f"run.iterations={iterations}", f"run.seed={seed}")
        code = run.wait(3600.0 + 5.0 * iterations)
        assert code == 0, f"an undisturbed run ended with exit code {code}: {run.output}"
        return run.path
    finally:
        run.kill_all()


@contextmanager
def small_disk(folder: Path) -> Iterator[Path | None]:
    """Mount a small file system in memory, if this user may; afterwards keep its files."""
    disk = folder / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_SIZE}", "soak", str(disk)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True).returncode:
        yield None
        return
    try:
        yield disk
    finally:
        shutil.copytree(disk, folder / "kept", symlinks=True)
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


def soak(options: argparse.Namespace, folder: Path) -> tuple[dict[str, object], list[Check]]:
    """Run the campaign and return its figures and the checks."""
    dice, begun = np.random.default_rng(options.seed), time.monotonic()
    with small_disk(folder) as disk:
        run = TrainingRun(folder / "disturbed", disk)
        campaign = Campaign(run, dice)
        try:
            run.start()
            campaign.wait_for_iterations(3, START_SECONDS)
            campaign.strike(options.faults, every=options.every)
            campaign.faults.end_all()
            campaign.wait_for_iterations(2, END_SECONDS)
            iteration, ended = finish(run)
        finally:
            run.kill_all()
        others = [
            undisturbed_run(folder / f"undisturbed-{seed}", iteration, seed)
            for seed in range(2, options.undisturbed + 2)
        ]
        if options.compare:
            others += sorted(path.parent for path in options.compare.rglob("stats.jsonl"))
        checks = [
            check_rows(run.path),
            check_updates(run.path),
            ended,
            check_left_over(campaign.samples, run.mistakes),
            *check_growth(campaign.samples),
            check_outputs(run.output, run.control, campaign.faults.may_fail),
            check_pauses(campaign.samples),
            check_strength(run.path, others),
        ]
        figures: dict[str, object] = {
            "faults": dict(campaign.faults.counts),
            "left out": campaign.faults.notes,
            "iterations": iteration,
            "resumes": run.resumes,
            "events": count_events(run.path),
            "minutes": round((time.monotonic() - begun) / 60, 1),
        }
    return figures, checks


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--faults", type=int, default=1000)
    parser.add_argument("--every", type=float, default=5.4, help="seconds between two faults")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--partitions", type=int, default=5, help="cuts between two hosts")
    parser.add_argument("--undisturbed", type=int, default=3, help="runs without faults")
    parser.add_argument("--compare", type=Path, help="folder with more runs without faults")
    parser.add_argument("--folder", type=Path, help="new folder for runs and outputs")
    parser.add_argument("--json", type=Path, help="file for figures and checks")
    options = parser.parse_args()
    folder = options.folder or Path(tempfile.mkdtemp(prefix="rookery-soak-"))
    folder.mkdir(parents=True, exist_ok=True)
    figures, checks = soak(options, folder)
    if options.partitions:
        note, more = partition(folder / "hosts", SETTINGS, options.partitions, seed=options.seed)
        figures["partitions"], checks = note, [*checks, *more]
    for name, value in figures.items():
        print(f"{name}: {value}")
    print_checks(checks)
    if options.json:
        report = {**figures, "checks": [asdict(check) for check in checks]}
        options.json.write_text(json.dumps(report, indent=2) + "\n")
    print(f"outputs are in {folder}")
    return int(not all(check.is_ok for check in checks))


if __name__ == "__main__":
    sys.exit(main())
