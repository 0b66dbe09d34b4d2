"""What must be true after a soak: each check is one line."""

import os
import re
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from statistics import mean, median, stdev
from typing import Any

import psutil

from rookery.training import RunFolder, Stats
from rookery.training.store.checkpoint import Checkpoint
from rookery.training.store.stats import parse_line

EVENT = re.compile(r"(actor|trainer) \d+ (was killed|failed|was silent|was not ready|ended)")
TAIL_BYTES = 100_000
MAX_PAUSE_SECONDS = 120.0
MIN_SAMPLES = 40
"""Samples of one life of the coordinator from which growth can be judged."""
MEASUREMENTS = 10
"""Measurements whose mean is the strength at the end of a run."""
_STUDENT = {2: 4.30, 3: 3.18, 4: 2.78, 5: 2.57, 6: 2.45, 7: 2.36, 8: 2.31, 9: 2.26, 10: 2.23}
"""Student's t, 95 % on both sides, by its degrees of freedom."""
TOLERANCE = {"memory_mb": 24.0, "files": 4.0, "threads": 4.0}
"""Growth within one life that is no leak: workers come and go, caches fill."""


@dataclass(frozen=True)
class Check:
    """A check and its result."""

    what: str
    is_ok: bool


@dataclass(frozen=True)
class Sample:
    """The coordinator at some moment."""

    at: float
    pid: int
    memory_mb: float
    files: int
    threads: int
    iteration: int
    ports: frozenset[int]
    """Ports on which any process of the run listens."""

    @classmethod
    def take(cls, coordinator: psutil.Process, run: Path) -> "Sample":
        """Return a sample of the coordinator and its run."""
        ports: set[int] = set()
        for process in (coordinator, *coordinator.children(recursive=True)):
            with suppress(psutil.Error):
                found = process.net_connections("inet")
                ports |= {each.laddr.port for each in found if each.status == psutil.CONN_LISTEN}
        with coordinator.oneshot():
            return cls(
                at=time.monotonic(),
                pid=coordinator.pid,
                memory_mb=coordinator.memory_info().rss / 2**20,
                files=coordinator.num_fds(),
                threads=coordinator.num_threads(),
                iteration=last_iteration(run),
                ports=frozenset(ports),
            )


def last_iteration(run: Path) -> int:
    """Return the last iteration of a run's statistics, 0 before the first one."""
    try:
        with (run / "stats.jsonl").open("rb") as file:
            file.seek(-min(TAIL_BYTES, file.seek(0, os.SEEK_END)), os.SEEK_END)
            lines = [parse_line(raw) for raw in file.read().splitlines()]
    except FileNotFoundError:
        return 0
    return max((line["iteration"] for line in lines if line), default=0)


def check_rows(run: Path) -> Check:
    """Check that every iteration is recorded once, and every row of its games is counted once."""
    made, lines = _checkpoint(run).position, _lines(run, "iteration")
    games = [line["selfplay"]["games"] for line in lines]
    recorded = sum(
        round(line["selfplay"]["games"] * line["selfplay"]["mean_length"]) for line in lines
    )
    is_whole = [line["iteration"] for line in lines] == list(range(1, made.iteration + 1))
    what = (
        f"every game once: iterations 1 to {made.iteration} without gap, {sum(games)} games with "
        f"{recorded} rows recorded, {made.rows_made} in the checkpoint"
    )
    return Check(what, is_whole and recorded == made.rows_made)


def check_updates(run: Path) -> Check:
    """Check that every update that was due was made once."""
    found, learning = _checkpoint(run), RunFolder(run).config.learning
    updates, due = int(found.learner["updates"].item()), learning.reuse * found.position.rows_made
    made = updates * learning.batch_size + found.position.rows_owed
    what = (
        f"every update once: {updates} updates of {learning.batch_size} rows and "
        f"{found.position.rows_owed:.0f} rows owed, {due:.0f} rows due"
    )
    return Check(what, made == due)


def check_left_over(samples: Sequence[Sample], mistakes: Sequence[str]) -> Check:
    """Check that no process outlived a coordinator, and that no port is open."""
    used = frozenset[int]().union(*(sample.ports for sample in samples))
    still = {
        each.laddr.port
        for each in psutil.net_connections("inet")
        if each.status == psutil.CONN_LISTEN and each.pid is None  # else it is another program's
    }
    what = (
        f"no orphan, no open port, no unexpected end: {len(used)} ports used, "
        f"{len(used & still)} open, {len(mistakes)} mistakes"
    )
    return Check("; ".join((what, *mistakes)), not used & still and not mistakes)


def check_growth(samples: Sequence[Sample]) -> list[Check]:
    """Compare the last with the second quarter of the longest life of a coordinator."""
    lives: dict[int, list[Sample]] = {}
    for sample in samples:
        lives.setdefault(sample.pid, []).append(sample)
    life = max(lives.values(), key=len)
    if len(life) < MIN_SAMPLES:
        return [Check(f"no growth: not judged by {len(life)} samples", True)]
    quarter, checks = len(life) // 4, []
    for name, tolerance in TOLERANCE.items():
        values = [getattr(sample, name) for sample in life]
        before, after = median(values[quarter : 2 * quarter]), median(values[-quarter:])
        minutes = (life[-1].at - life[0].at) / 60
        what = f"no growth of {name}: {before:.0f}, then {after:.0f}, in {minutes:.0f} minutes"
        checks.append(Check(what, after <= before + tolerance))
    return checks


def check_outputs(output: Path, control: Path, may_fail: set[int]) -> Check:
    """Check that no process printed a traceback, except workers in which one was raised."""
    others = [path for path in control.glob("worker-*.txt") if _pid(path) not in may_fail]
    guilty = [path.name for path in (output, *others) if "Traceback" in _text(path)]
    return Check(" ".join(("no traceback in any output", *guilty)), not guilty)


def check_pauses(samples: Sequence[Sample]) -> Check:
    """Check that a new iteration was never far away while the coordinator lived.

    The longest time over several lives is told, but it is that of the faults: a coordinator that is
    ended again and again within seconds makes no iteration.
    """
    lives = [list(life) for _, life in groupby(samples, key=lambda sample: sample.pid)]
    within, over_all = max(map(_longest_pause, lives)), _longest_pause(samples)
    what = (
        f"no hang: at most {within:.0f} s without a new iteration in one life of the coordinator, "
        f"{over_all:.0f} s over several lives"
    )
    return Check(what, within <= MAX_PAUSE_SECONDS)


def _longest_pause(samples: Sequence[Sample]) -> float:
    best, since, longest = samples[0].iteration, samples[0].at, 0.0
    for sample in samples:
        longest = max(longest, sample.at - since)
        if sample.iteration > best:
            best, since = sample.iteration, sample.at
    return longest


def check_strength(run: Path, others: Sequence[Path]) -> Check:
    """Compare the strength at the end with that of undisturbed runs from other seeds.

    A run is within their noise if it lies in the interval in which one more of them would lie with
    a probability of 95 %. All are compared after as many iterations.
    """
    series = [_errors(each) for each in (run, *others)]
    last = min(max(each, default=0) for each in series)
    ends = [
        [each[number] for number in sorted(each) if number <= last][-MEASUREMENTS:]
        for each in series
    ]
    if len(others) < 3 or min(map(len, ends)) < MEASUREMENTS:
        return Check("strength: not judged by so few runs or measurements", True)
    errors, *undisturbed = map(mean, ends)
    what = (
        f"strength: errors {errors:.1f} % with faults, "
        f"{', '.join(f'{each:.1f}' for each in undisturbed)} % without, after {last} iterations"
    )
    number = len(undisturbed)
    noise = stdev(undisturbed) * (1 + 1 / number) ** 0.5 * _STUDENT[min(number - 1, 10)]
    low, high = (mean(undisturbed) + sign * noise for sign in (-1, 1))
    what += f": one more would be in {max(low, 0):.1f} to {high:.1f} %"
    return Check(what, low <= errors <= high)


def count_events(run: Path) -> dict[str, int]:
    """Return what the statistics recorded of workers, by what happened to them."""
    counts: Counter[str] = Counter()
    for line in _lines(run, "note"):
        if found := re.match(
            r"(actor|trainer) \d+ ([a-z ]+?)(?= for| by|:|;| after)", line["note"]
        ):
            counts[f"{found[1]} {found[2]}"] += 1
        counts["dropped"] += "dropped" in line["note"]
    return dict(counts)


def print_checks(checks: Sequence[Check]) -> None:
    """Print one line per check."""
    for check in checks:
        print(f"{'ok' if check.is_ok else 'FAILED'} {check.what}")


def _lines(run: Path, kind: str) -> list[dict[str, Any]]:
    return [line for line in Stats(run).lines() if line["kind"] == kind]


def _errors(run: Path) -> dict[int, float]:
    """Return the measurements of strength by their iterations."""
    return {line["iteration"]: line["strength"]["errors"] for line in _lines(run, "strength")}


def _checkpoint(run: Path) -> Checkpoint:
    found = Checkpoint.load(run)
    assert found is not None, f"{run} has no checkpoint"
    return found


def _text(path: Path) -> str:
    return path.read_text(errors="replace")


def _pid(path: Path) -> int:
    return int(path.stem.removeprefix("worker-"))
