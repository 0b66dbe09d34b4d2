"""Methods of learning compared by whole runs: Connect Four from nothing, in the same time.

    python benchmarks/methods.py --minutes 20 --cores 0-1 --json methods.json
    python benchmarks/methods.py --minutes 20 --cores 0-15 --parallel --json methods.json
    python benchmarks/methods.py --minutes 8 --devices cuda:0 --json methods-gpu.json

Each method is one `rookery train connect4` with the same settings (more with `--set`, for all
alike). On the CPU each is bound to its own `--each` cores (2): one run after the other, or with
`--parallel` as many at the same time as there are cores for. On a GPU two trainers share it.
`--only single,pipeline` runs some of the methods; a run folder that is complete is not run again.

Prints one row per method:

    iterations, games, updates; rows learned per second of the run, and per second of learning;
    share of the trainers' time spent on communication, MB that they sent per update; memory of all
    processes at its peak, on the host (pages that processes share count once) and on the GPU (of
    all its processes, less what was in use before); errors of the last network, alone and with 32
    simulations, with their 95 % intervals and the number of positions; Elo, if the run recorded it
"""

import argparse
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import psutil
import torch
from heading import print_heading, print_table

from rookery.training import Stats

SAMPLE_SECONDS = 0.5
SIMULATIONS = (0, 32)
TOGETHER = ("learning.method=distributed", "learning.workers=2")
METHODS: dict[str, tuple[str, ...]] = {
    "single": (),
    "distributed": TOGETHER,
    "gather_broadcast": (*TOGETHER, "learning.synchronise=gather_broadcast"),
    "parameter_server": (*TOGETHER, "learning.synchronise=parameter_server"),
    "data_parallel": ("learning.method=data_parallel", "learning.workers=2"),
    "pipeline": ("learning.method=pipeline", "learning.workers=2", "learning.accumulate=4"),
    "distributed bf16": (*TOGETHER, "learning.compress=bf16"),
    "distributed topk": (*TOGETHER, "learning.compress=topk"),
    "single, 2 actors": ("run.actors=2",),
}
ON_GPU = {
    "single, float32": ("learning.precision=float32",),
    "single, bfloat16": ("learning.precision=bfloat16",),
}
HEADINGS = [
    "method",
    "iterations",
    "games",
    "updates",
    "rows/s",
    "rows/s learning",
    "communication",
    "MB sent/update",
    "host MB",
    "GPU MB",
    "errors alone",
    "errors, 32 simulations",
    "positions",
    "Elo",
]


class Memory:
    """Samples the memory of a process, all its descendants and a GPU until `close`."""

    def __init__(self, pid: int, gpu: torch.device | None, gpu_before: int) -> None:
        self.host_mb, self.gpu_mb = 0, 0
        self._process, self._gpu, self._gpu_before = psutil.Process(pid), gpu, gpu_before
        self._is_closed = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop sampling."""
        self._is_closed.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._is_closed.wait(SAMPLE_SECONDS):
            self.host_mb = max(self.host_mb, host_bytes(self._process) >> 20)
            if self._gpu is not None:
                used = gpu_bytes(self._gpu) - self._gpu_before
                self.gpu_mb = max(self.gpu_mb, used >> 20)


def host_bytes(process: psutil.Process) -> int:
    """Return the memory of a process and its descendants; shared pages count once on Linux."""
    total = 0
    try:
        family = [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return 0
    for each in family:
        try:
            used = each.memory_full_info()
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
        total += getattr(used, "pss", used.rss)
    return total


def gpu_bytes(device: torch.device) -> int:
    """Return the memory of a GPU that is in use by all processes."""
    free, total = torch.cuda.mem_get_info(device)
    return total - free


class Runs:
    """The runs of all methods, in one folder."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        is_gpu = options.devices.startswith("cuda")
        self._gpu = torch.device(options.devices.split(",")[0]) if is_gpu else None
        self._gpu_before = gpu_bytes(self._gpu) if self._gpu else 0
        self._places: SimpleQueue[list[int]] = SimpleQueue()
        groups = core_groups(options.cores, options.each)
        self.at_once = len(groups) if options.parallel else 1
        for group in groups[: self.at_once]:
            self._places.put(group)

    def row(self, name: str, settings: Sequence[str]) -> dict[str, Any]:
        """Train with a method on free cores, measure its network, and return all figures."""
        cores = self._places.get()
        try:
            return self._row(name, settings, cores)
        finally:
            self._places.put(cores)

    def _row(self, name: str, settings: Sequence[str], cores: list[int]) -> dict[str, Any]:
        path = self.options.runs / name.replace(", ", "-").replace(" ", "-")
        kept = path.with_suffix(".json")
        if kept.exists():
            found: dict[str, Any] = json.loads(kept.read_text())
            return found
        chosen = [word for each in (*self.options.set, *settings) for word in ("--set", each)]
        minutes = ("--minutes", str(self.options.minutes), "--devices", self.options.devices)
        command = ("train", "connect4", "--run", str(path), *minutes, *chosen)
        log = path.with_suffix(".log")
        with log.open("w") as file:
            process = start(command, cores, stdout=file, stderr=subprocess.STDOUT)
            memory = Memory(process.pid, self._gpu, self._gpu_before)
            code = process.wait()
            memory.close()
        row = {"method": name, "settings": settings, "cores": cores, "exit_code": code}
        if code:
            return {**row, "error": last_line(log)}
        row |= {"host_mb": memory.host_mb, "gpu_mb": memory.gpu_mb}
        row |= figures(Stats(path).lines())
        evaluated = self._evaluate(path, cores)
        if evaluated.returncode:
            error = evaluated.stderr.strip()
            return {**row, "exit_code": evaluated.returncode, "error": error}
        row["strength"] = json.loads(evaluated.stdout)["strength"]
        kept.write_text(json.dumps(row))
        return row

    def _evaluate(self, path: Path, cores: list[int]) -> "subprocess.CompletedProcess[str]":
        counts = ",".join(map(str, SIMULATIONS))
        command = ("eval", str(path), "--simulations", counts, "--devices", self.options.devices)
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        process = start((*command, "--json"), cores, text=True, **pipes)
        out, err = process.communicate()
        return subprocess.CompletedProcess(command, process.returncode, out, err)


def start(command: Sequence[str], cores: list[int], **options: Any) -> "subprocess.Popen[str]":
    """Start the command line on some cores; on all of them if there are none."""

    def bind() -> None:
        if cores:
            os.sched_setaffinity(0, cores)

    return subprocess.Popen([sys.executable, "-m", "rookery", *command], preexec_fn=bind, **options)


def core_groups(cores: str, each: int) -> list[list[int]]:
    """Return groups of `each` of the cores in a text such as 0-7; one empty group for 0."""
    if not each or not hasattr(os, "sched_setaffinity"):
        return [[]]
    numbers = sorted(os.sched_getaffinity(0))
    if cores:
        first, _, last = cores.partition("-")
        numbers = list(range(int(first), int(last or first) + 1))
    groups = [numbers[n : n + each] for n in range(0, len(numbers) - each + 1, each)]
    if not groups:
        raise SystemExit(f"--cores {cores} has fewer than --each {each} cores")
    return groups


def figures(lines: Any) -> dict[str, Any]:
    """Return what the statistics of a run say about it."""
    found = list(lines)
    iterations = [line for line in found if line["kind"] == "iteration"]
    learned = [line["learning"] for line in iterations if line["learning"]]
    rows = sum(each["rows"] for each in learned)
    updates = sum(each["updates"] for each in learned)
    seconds = sum(each["rows"] / each["rows_per_second"] for each in learned if each["rows"])
    totals = [each["total"] for each in learned if each["total"]]
    shares = [each["total"]["communication"] * each["rows"] for each in learned if each["total"]]
    elo = [line for line in found if line["kind"] == "elo"]
    notes = [line["note"] for line in found if line["kind"] == "note"]
    return {
        "iterations": iterations[-1]["iteration"] if iterations else 0,
        "games": sum(line["selfplay"]["games"] for line in iterations),
        "updates": updates,
        "rows_per_second": rows / max(found[-1].get("seconds", 0.0), 1e-9),
        "rows_per_second_learning": rows / max(seconds, 1e-9),
        "communication": sum(shares) / rows if totals and rows else None,
        "sent_mb": sum(t["sent_mb"] for t in totals) / updates if totals and updates else None,
        "trainers_mb": max((t["memory_mb"] for t in totals), default=None),
        "trainers_gpu_mb": max((t["device_mb"] for t in totals), default=None),
        "elo": {name: elo[-1][name] for name in ("elo", "low", "high")} if elo else None,
        "notes": notes,
    }


def last_line(log: Path) -> str:
    lines = [line for line in log.read_text().splitlines() if line.strip()]
    return lines[-1] if lines else "no output"


def cells(row: dict[str, Any]) -> list[str]:
    """Return a row of the table."""
    if row["exit_code"]:
        return [row["method"], f"exit code {row['exit_code']}", *[""] * (len(HEADINGS) - 2)]
    totals = [row["strength"][str(number)]["rows"][-1] for number in SIMULATIONS]
    elo, share, sent = row["elo"], row["communication"], row["sent_mb"]
    return [
        row["method"],
        f"{row['iterations']:,}",
        f"{row['games']:,}",
        f"{row['updates']:,}",
        f"{row['rows_per_second']:,.0f}",
        f"{row['rows_per_second_learning']:,.0f}",
        "-" if share is None else f"{share:.1%}",
        "-" if sent is None else f"{sent:.3f}",
        f"{row['host_mb']:,}",
        f"{row['gpu_mb']:,}" if row["gpu_mb"] else "-",
        *(
            f"{each['errors']['percent']:.2f} % "
            f"({each['errors']['low']:.2f} to {each['errors']['high']:.2f})"
            for each in totals
        ),
        f"{totals[0]['number']:,}",
        f"{elo['elo']:.0f} ({elo['low']:.0f} to {elo['high']:.0f})" if elo else "-",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--devices", default="cpu")
    parser.add_argument("--runs", type=Path, default=None, help="by default a folder by the date")
    parser.add_argument("--cores", default="", help="use these, as in 0-15; by default all")
    parser.add_argument("--each", type=int, help="cores per method; on a GPU by default all")
    parser.add_argument("--parallel", action="store_true")
    parser.add_argument("--only", default="", help="methods, separated by semicolons or commas")
    parser.add_argument("--set", action="append", default=[], metavar="SETTING")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    is_gpu = options.devices.startswith("cuda")
    if options.each is None:
        options.each = 0 if is_gpu else 2
    options.runs = options.runs or Path("runs") / time.strftime("methods-%Y%m%d-%H%M%S")
    options.runs.mkdir(parents=True, exist_ok=True)
    methods = {**METHODS, **(ON_GPU if is_gpu else {})}
    if options.only:
        names = options.only.split(";" if ";" in options.only else ",")
        methods = {name.strip(): methods[name.strip()] for name in names}
    print_heading()
    runs = Runs(options)
    with ThreadPoolExecutor(runs.at_once) as threads:
        rows = list(threads.map(lambda item: runs.row(*item), methods.items()))
    print_table(HEADINGS, [cells(row) for row in rows])
    for row in rows:
        for note in [row["error"]] if row["exit_code"] else row["notes"]:
            print(f"{row['method']}: {note}")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
