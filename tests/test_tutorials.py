"""Type the tutorials of docs, block by block and in their order, in an empty folder.

Files that a tutorial shows (`python title="name.py"`) are saved, other Python is executed, and
commands run with the options below, which shorten them.
"""

import io
import os
import re
import runpy
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rookery.base import PLUGINS, plugins
from rookery.gpu import find_device
from rookery.interface.cli.app import run

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r'^```(sh|python)(?: title="([\w.]+)")?\n(.*?)^```$', re.DOTALL | re.MULTILINE)
TINY = " ".join(
    f"--set {setting}"
    for setting in (
        *("run.minutes=0", "run.iterations=2", "run.moves=9", "run.strength_every=0"),
        *("run.inference=float32", "net.width=8", "net.depth=1", "selfplay.games=16"),
        *("selfplay.simulations=4", "replay.window_min=100", "learning.batch_size=32"),
        "learning.precision=float32",
    )
)
OPTIONS = {
    "train": TINY,
    "resume": "--set run.minutes=0 --set run.iterations=3",
    "eval": "--simulations 0",
    "match": "--games 2 --workers 0",
    "play": "--simulations 2",
}
"""Options by command."""
PRINTS = {
    "tutorial-connect4": (
        "Finished: connect4 in runs/first",
        "3 iterations",
        "begin-hard",
        "Elo",
        "first plays",
    ),
    "tutorial-own-game": (
        "read as they are written",
        "5 passed",
        "['c3b4', 'c3c4', 'c3d4'",
        "Finished: breakthrough in runs/quick",
        "minimax:2",
    ),
    "tutorial-program": ("expected a column from 1 to 7", "move 7: 7 was worth -1.00, but 4 +1.00"),
    "tutorial-net": ("Finished: tictactoe in runs/gated", "in compared.png", "Elo"),
    "tutorial-machines": (
        "Finished: connect4 in runs/actors",
        "2 trainers sharing every batch",
        "in compared.png",
    ),
}
"""What each tutorial must print."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder, in which modules are found."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setenv(PLUGINS, "")
    monkeypatch.setenv("COLUMNS", "100")
    plugins.import_plugins.cache_clear()
    yield tmp_path
    plugins.import_plugins.cache_clear()
    for path in tmp_path.glob("*.py"):
        sys.modules.pop(path.stem, None)


def test_every_tutorial_is_typed() -> None:
    assert {path.stem for path in (ROOT / "docs").glob("tutorial-*.md")} == set(PRINTS)


@pytest.mark.parametrize("name", sorted(PRINTS))
def test_a_tutorial_works(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    names: dict[str, Any] = {"__name__": name}
    for language, file, block in BLOCK.findall((ROOT / f"docs/{name}.md").read_text("ascii")):
        if file:
            (folder / file).write_text(block)
        elif language == "python":
            exec(compile(block, f"docs/{name}.md", "exec"), names)
        else:
            for command in re.sub(r"\s*\\\n\s*", " ", block).splitlines():
                type_command(command, monkeypatch)
    printed = "".join(capfd.readouterr())
    for expected in PRINTS[name]:
        assert expected in printed, printed


def type_command(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run one line of a shell block."""
    words = shlex.split(command)
    if words[0] == "rookery":
        type_rookery(words[1:], monkeypatch)
    elif words[0] == "export":
        name, _, value = words[1].partition("=")
        monkeypatch.setenv(name, value)
    elif words[:2] == ["pip", "install"]:
        check_package(words[2])
    elif words[0] == "python":
        monkeypatch.setattr(sys, "argv", words[1:])
        runpy.run_path(words[1], run_name="__main__")
    else:
        assert words[0] == "pytest", command
        source = os.pathsep.join([str(ROOT / "src"), *sys.path])
        subprocess.run(
            [sys.executable, "-m", *words], check=True, env={**os.environ, "PYTHONPATH": source}
        )


def type_rookery(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a command of Rookery; without GPUs, machines or a run to change it must say so."""
    monkeypatch.setattr("sys.stdin", io.StringIO("quit\n"))
    is_refused = "10.0.0.1:6379" in words or words[0] == "scale"
    is_refused |= "all" in words and find_device("auto").type == "cpu"
    code = run([*words, *shlex.split(OPTIONS.get(words[0], ""))])
    assert code == (2 if is_refused else 0), words


def check_package(name: str) -> None:
    """Check that an extra exists, instead of installing it."""
    extra = re.fullmatch(r"\.\[(\w+)\]", name)
    packages = (ROOT / "pyproject.toml").read_text("ascii")
    assert f"\n{extra[1]} = [" in packages if extra else f'"{name}' in packages
