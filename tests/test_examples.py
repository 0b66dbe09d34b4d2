"""The examples are short, use the public API alone, and run in an empty folder."""

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
RULES = "nim.py"
LINES = 40
SECONDS = 600
"""Ten times what an example takes: a first run compiles, and the machine may have other work."""
PRINTS = {
    "analyse_position": r"player 1 plays \d, value [+-]\d\.\d\d\nwin \d+%, draw \d+%, loss \d+%",
    "batch_search": r"64 positions, policy \(64, 7\), wdl \(64, 3\)",
    "deepening_analysis": r"(?s)nodes  [+-]\d\.\d\d  \d.*move \d: value .*\d+ visits",
    "own_evaluator": r"result for the player with 200 simulations: 1",
    "own_game": r"\|{11}  take 3, value .*\n\|{9}  take 1, value .*\n\|{5}  take 1, value",
    "play_game": r"(?s)moves: \d.*(player \d wins|a draw)",
    "resume_run": r"(?s)stopped: <Run .*, 2 iterations>.*resumed: <Run .*, 4 iterations>",
    "train_and_plot": r"8 iterations>: loss from \d\.\d\d to \d\.\d\d, plotted in tictactoe\.png",
}
NOTEBOOKS = {
    "first_steps": r"(?s)best move \d, value .*result for the first player: -?[01]",
    "train_and_measure": r"(?s)Elo against random moves: .*Elo against iteration 4: ",
}
SLOW = {"first_steps", "own_game", "play_game", "train_and_plot"}
"""They call what the others call, and take longest."""


def to_run(names: Iterable[str]) -> list[Any]:
    """Return the sorted names as parameters, the slow ones marked."""
    marks = {True: [pytest.mark.slow], False: []}
    return [pytest.param(name, marks=marks[name in SLOW]) for name in sorted(names)]


def test_every_example_has_an_entry_here() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} - {Path(RULES).stem} == set(PRINTS)
    assert {path.stem for path in EXAMPLES.glob("*.ipynb")} == set(NOTEBOOKS)


def source(notebook: str) -> str:
    """Return the code of a notebook."""
    cells = json.loads((EXAMPLES / f"{notebook}.ipynb").read_text("utf-8"))["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")


@pytest.mark.parametrize("name", sorted(PRINTS))
def test_a_script_is_short(name: str) -> None:
    assert len((EXAMPLES / f"{name}.py").read_text("ascii").splitlines()) <= LINES


@pytest.mark.parametrize("name", sorted([*PRINTS, *NOTEBOOKS]))
def test_an_example_uses_the_public_api_alone(name: str) -> None:
    text = source(name) if name in NOTEBOOKS else (EXAMPLES / f"{name}.py").read_text("ascii")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom):
            assert node.module is not None and node.module.split(".")[0] != "rookery"
        if isinstance(node, ast.Import):
            assert not any(alias.name.startswith("rookery.") for alias in node.names)
    assert "import rookery as rk" in text


@pytest.mark.parametrize("name", sorted(NOTEBOOKS))
def test_a_notebook_is_stored_without_results(name: str) -> None:
    notebook = json.loads((EXAMPLES / f"{name}.ipynb").read_text("utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert not any(cell["outputs"] or cell["execution_count"] for cell in cells)


def environment() -> dict[str, str]:
    """Return the environment of an example, which imports this Rookery."""
    return {**os.environ, "PYTHONPATH": str(ROOT / "src")}


@pytest.mark.parametrize("name", to_run(PRINTS))
def test_a_script_runs(name: str, tmp_path: Path) -> None:
    if name == "train_and_plot":
        pytest.importorskip("matplotlib")
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / f"{name}.py")],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stderr
    assert re.search(PRINTS[name], done.stdout), done.stdout
    assert not done.stderr
    assert (tmp_path / "tictactoe.png").exists() == (name == "train_and_plot")


@pytest.mark.parametrize("name", to_run(NOTEBOOKS))
def test_a_notebook_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbclient: Any = pytest.importorskip("nbclient")
    nbformat: Any = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    monkeypatch.setenv("PYTHONPATH", environment()["PYTHONPATH"])
    notebook = nbformat.read(EXAMPLES / f"{name}.ipynb", as_version=4)
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=SECONDS, resources=resources).execute()
    outputs = [each for cell in notebook.cells for each in cell.get("outputs", ())]
    printed = "".join(each.get("text", "") for each in outputs)
    assert re.search(NOTEBOOKS[name], printed), printed
