"""Ten tasks with five libraries: lines of code, and seconds until a new process has the result.

    python benchmarks/ten_tasks/measure.py --lines-only
    python benchmarks/ten_tasks/measure.py --jax-python PYTHON \\
        --azg-python PYTHON --alpha-zero-general DIR [--julia JULIA] [--json FILE] [--page FILE]

`--jax-python` has jax, dm-haiku, optax, mctx, pgx, open_spiel and matplotlib; `--azg-python` has
numpy 1.23, torch, coloredlogs, tqdm, matplotlib and onnxscript; DIR is a checkout of
github.com/suragnair/alpha-zero-general. Without its option a library is counted but not run.

Every script runs in a new process, in a copy of its folder that has the run of `train`. It runs
twice: cold, with an empty folder for compiled code, and warm, with what the cold run left there.
`--page docs/comparison.md` writes the results into that page. On two idle cores all of this takes
about half an hour.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from heading import heading, table
from ten_tasks.lines import (
    FOLDER,
    LIBRARIES,
    TASKS,
    is_offered,
    lines_of_all,
    lines_of_task,
    script,
)

MARKS = ("<!-- measured -->", "<!-- end -->")
"""They enclose the part of a page that `--page` writes."""
Seconds = dict[str, dict[str, list[float | None]]]
"""By library and task: cold and warm; None if the script failed or took too long."""


@dataclass(frozen=True)
class Runner:
    """How the scripts of a library are run."""

    command: str
    environment: dict[str, str] = field(default_factory=dict)


def main() -> None:
    options = read_options()
    if options.lines_only:
        print("\n".join(lines_table()))
        return
    seconds = {
        library: dict(measure(library, runner, options))
        for library, runner in runners(options).items()
    }
    if options.json:
        found = {"heading": heading(), "lines": count(), "seconds": seconds}
        options.json.write_text(json.dumps(found, indent=1) + "\n")
    tables = "\n".join([*lines_table(), "", *seconds_table(seconds)])
    print("\n".join(heading()), tables, sep="\n\n")
    if options.page:
        write_page(options.page, tables)


def write_page(page: Path, tables: str) -> None:
    """Replace the part of a page between its two marks."""
    before, first, rest = page.read_text().partition(MARKS[0])
    _, last, after = rest.partition(MARKS[1])
    if not (first and last):
        raise SystemExit(f"{page} lacks the marks {' and '.join(MARKS)}")
    machine = textwrap.fill(f"{heading()[0]}.", 100)
    page.write_text(f"{before}{first}\n{machine}\n\n{tables}\n{last}{after}")


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--lines-only", action="store_true", help="count lines and run nothing")
    parser.add_argument("--jax-python", help="an interpreter for mctx, pgx and OpenSpiel")
    parser.add_argument("--azg-python", help="an interpreter for alpha-zero-general")
    parser.add_argument("--alpha-zero-general", help="its checkout")
    parser.add_argument("--julia", help="Julia, with a project that has AlphaZero.jl and NPZ")
    parser.add_argument("--libraries", nargs="*", choices=LIBRARIES, default=list(LIBRARIES))
    parser.add_argument("--tasks", nargs="*", choices=TASKS, default=list(TASKS))
    parser.add_argument("--limit", type=float, default=600, help="seconds for one script")
    parser.add_argument("--json", type=Path, help="write the results to this file")
    parser.add_argument("--page", type=Path, help="write the tables into this page")
    return parser.parse_args()


def runners(options: argparse.Namespace) -> dict[str, Runner]:
    """Return the libraries that can run here, in the order of the tables."""
    on_cpu = {"JAX_PLATFORMS": "cpu"}
    checkout = {"PYTHONPATH": os.path.abspath(options.alpha_zero_general or ".")}
    known = {
        "rookery": Runner(sys.executable),
        "mctx_pgx": Runner(options.jax_python, on_cpu),
        "alphazero_jl": Runner(options.julia, {"GKSwstype": "100"}),
        "open_spiel": Runner(options.jax_python, on_cpu),
        "alpha_zero_general": Runner(options.azg_python, checkout),
    }
    return {name: known[name] for name in options.libraries if known[name].command}


def measure(
    library: str, runner: Runner, options: argparse.Namespace
) -> Iterator[tuple[str, list[float | None]]]:
    """Yield the tasks of a library and the seconds of their cold and warm runs."""
    with tempfile.TemporaryDirectory() as name:
        folders = [Path(name) / "cold", Path(name) / "warm"]
        for folder in folders:
            shutil.copytree(FOLDER / library, folder)
        tasks = ["train", *(task for task in TASKS if task != "train" and task in options.tasks)]
        for task in tasks:
            cache = Path(name) / "cache" / task
            found = [run(library, task, runner, folder, cache, options.limit) for folder in folders]
            print(f"{library} {task}: {' / '.join(map(show, found))}", file=sys.stderr, flush=True)
            if task in options.tasks:
                yield task, found


def run(
    library: str, task: str, runner: Runner, folder: Path, cache: Path, limit: float
) -> float | None:
    """Run one script and return its seconds, or None if it failed."""
    own = {"XDG_CACHE_HOME": str(cache), "MPLBACKEND": "agg"}
    command = [runner.command, script(library, task).name]
    started = time.perf_counter()
    try:
        subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, **own, **runner.environment},
            capture_output=True,
            check=True,
            text=True,
            timeout=limit,
        )
    except subprocess.TimeoutExpired:
        return None
    except subprocess.CalledProcessError as error:
        print(error.stderr[-2000:], file=sys.stderr)
        return None
    return round(time.perf_counter() - started, 1)


def count() -> dict[str, dict[str, int]]:
    """Return the lines by library and task, and of all tasks together."""
    return {
        library: {
            **{task: lines_of_task(library, task) for task in TASKS},
            "all": lines_of_all(library),
        }
        for library in LIBRARIES
    }


def lines_table() -> list[str]:
    """Return the table of lines of code; a star marks what a library does not offer."""
    lines = count()
    rows = [
        [title, *(f"{lines[name][task]}{'' if is_offered(name, task) else ' *'}" for name in lines)]
        for task, title in TASKS.items()
    ]
    rows.append(["all ten, shared files once", *(str(lines[name]["all"]) for name in lines)])
    return table(["lines of code", *LIBRARIES.values()], rows)


def seconds_table(seconds: Seconds) -> list[str]:
    """Return the table of the seconds of the cold and the warm run."""
    rows = [
        [title, *(_cell(seconds.get(library, {}).get(task)) for library in LIBRARIES)]
        for task, title in TASKS.items()
    ]
    return table(["seconds, cold / warm", *LIBRARIES.values()], rows)


def _cell(found: list[float | None] | None) -> str:
    return "not run" if found is None else " / ".join(map(show, found))


def show(seconds: float | None) -> str:
    return "failed" if seconds is None else f"{seconds:.1f}"


if __name__ == "__main__":
    main()
