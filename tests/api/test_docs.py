"""The examples of docs/python.md, run in the order of the page."""

import re
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "python.md"


def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(blocks) == 9
    names: dict[str, Any] = {}
    for number, block in enumerate(blocks, start=1):
        exec(compile(block, f"block {number} of {PAGE.name}", "exec"), names)
    assert names["board"].moves == list("4453") and names["info"].nodes > 500
    assert (tmp_path / "curves.png").stat().st_size > 1000
    assert (tmp_path / "runs" / "tictactoe-1").is_dir() and len(names["run"].stats()) == 4
