"""The ten tasks of benchmarks/ten_tasks: complete, ours run, and the page has their lines."""

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

from ten_tasks.lines import (
    FOLDER,
    LIBRARIES,
    TASKS,
    count_lines,
    is_offered,
    lines_of_all,
    lines_of_task,
    needed_files,
    script,
)

PAGE = Path(__file__).parents[1] / "docs" / "comparison.md"
SECONDS = 600
"""Far more than a script takes: a first run compiles, and the machine may have other work."""
PRINTS = {
    "load_net": r"\d\n",
    "batch_search": r"\[(\d\s+)*\d\]\n",
    "own_evaluator": r"\d\n",
    "own_net": r"<Run runs/plain of connect4, 2 iterations>\n",
    "own_game": r"2\n",  # three matches, which leaves four
    "resume": r"<Run runs/connect4 of connect4, 3 iterations>\n",
    "match": r"WinDrawLoss\(wins=\d+, draws=\d+, losses=\d+\)\n",
    "plot": "",
    "export": r"connect4\.onnx\n",
}
WRITES = {"plot": "loss.png", "export": "connect4.onnx"}


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_library_has_every_task(library: str) -> None:
    for task in TASKS:
        assert script(library, task).is_file()
    for path in (FOLDER / library).glob("*.py"):
        ast.parse(path.read_text("utf-8"))


@pytest.mark.parametrize("library", LIBRARIES)
def test_every_file_belongs_to_a_task(library: str) -> None:
    needed = {file for task in TASKS for file in needed_files(script(library, task))}
    assert needed == {path for path in (FOLDER / library).iterdir() if path.is_file()}


@pytest.mark.parametrize("library", LIBRARIES)
def test_lines_have_at_most_100_columns(library: str) -> None:
    for path in (FOLDER / library).iterdir():
        assert not path.is_file() or max(map(len, path.read_text("utf-8").splitlines())) <= 100


@pytest.mark.parametrize("task", TASKS)
def test_ours_is_shortest_or_level(task: str) -> None:
    assert is_offered("rookery", task)
    assert lines_of_task("rookery", task) <= min(lines_of_task(name, task) for name in LIBRARIES)


def table(title: str) -> dict[str, list[str]]:
    """Return the rows of the table of the page whose first heading is `title`."""
    rows = [line.strip("|").split("|") for line in PAGE.read_text().splitlines() if "|" in line]
    cells = [[cell.strip() for cell in row] for row in rows]
    start = next(number for number, row in enumerate(cells) if row[0] == title)
    assert cells[start][1:] == list(LIBRARIES.values())
    size = len(TASKS) + (title == "lines of code")
    return {row[0]: row[1:] for row in cells[start + 2 : start + 2 + size]}


def test_the_page_has_the_lines_that_are_counted() -> None:
    expected = {
        title: [
            f"{lines_of_task(name, task)}{'' if is_offered(name, task) else ' *'}"
            for name in LIBRARIES
        ]
        for task, title in TASKS.items()
    }
    everything = [str(lines_of_all(name)) for name in LIBRARIES]
    assert table("lines of code") == {**expected, "all ten, shared files once": everything}


def test_the_page_has_the_seconds_of_every_task() -> None:
    found = table("seconds, cold / warm")
    assert list(found) == list(TASKS.values())
    for cell in (cell for row in found.values() for cell in row):
        assert re.fullmatch(r"not run|(\d+\.\d|failed) / (\d+\.\d|failed)", cell), cell


def test_code_alone_is_counted(tmp_path: Path) -> None:
    text = (
        '"""Two\nlines."""\n\n# note\nx = """a\nb"""\n\n\ndef f():\n    """Doc."""\n    return x\n'
    )
    path = tmp_path / "file.py"
    path.write_text(text)
    assert count_lines(path) == 4
    path = tmp_path / "file.jl"
    path.write_text("# note\n\nx = 1\n  # note\nf(x) = x # note\n")
    assert count_lines(path) == 2


def test_needed_files_are_followed(tmp_path: Path) -> None:
    texts = {"a.py": "import numpy, b\n", "b.py": "from c import x\n", "c.py": "x = 'rules.py'\n"}
    for name, text in {
        **texts,
        "rules.py": "",
        "other.py": "",
        "d.jl": 'include("e.jl")\n',
    }.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "e.jl").write_text("using Flux\n")
    assert {path.name for path in needed_files(tmp_path / "a.py")} == {*texts, "rules.py"}
    assert {path.name for path in needed_files(tmp_path / "d.jl")} == {"d.jl", "e.jl"}


def run(task: str, folder: Path) -> str:
    """Run one of our scripts in `folder` and return what it prints."""
    done = subprocess.run(
        [sys.executable, f"{task}.py"],
        cwd=folder,
        env={**os.environ, "MPLBACKEND": "agg"},
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of our scripts after train.py."""
    folder = tmp_path_factory.mktemp("ten_tasks") / "rookery"
    shutil.copytree(FOLDER / "rookery", folder)
    assert run("train", folder) == "<Run runs/connect4 of connect4, 2 iterations>\n"
    return folder


@pytest.mark.parametrize(
    "task",
    [
        pytest.param(task, marks=pytest.mark.slow if task in ("own_game", "own_net") else ())
        for task in PRINTS
    ],
)
def test_our_script_runs(task: str, trained: Path, tmp_path: Path) -> None:
    folder = tmp_path / "rookery"
    shutil.copytree(trained, folder)
    assert re.fullmatch(PRINTS[task], run(task, folder))
    assert task not in WRITES or (folder / WRITES[task]).stat().st_size > 1000
