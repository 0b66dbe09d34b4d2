"""What a shell completes, asked in this process and in a real bash."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rookery.interface.cli.completion import (
    NAMES,
    complete_game,
    complete_net,
    complete_run,
    complete_setting,
)
from rookery.training import RECIPES, apply, setting_names
from terminals import Terminal

TOOL = Path(__file__).parents[2] / "tools" / "make_completions.py"
SLOW = re.compile(r"\| +(torch|numba|numpy|rookery\.(games|training))$", re.MULTILINE)
"""Packages that take seconds to import, in what `python -X importtime` prints."""


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with runs, rules, and what is neither."""
    for name in ("runs/first", "runs/second", "tried"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "run.json").touch()
    (tmp_path / "runs/other").mkdir()
    for name in ("hexapawn.py", "notes.txt"):
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_games_rules_and_runs_are_completed(workplace: Path) -> None:
    assert complete_game("con") == ["connect4"]
    assert complete_game("") == ["chess", "connect4", "tictactoe", "hexapawn.py"]
    assert complete_game("../") == [] == complete_game("missing/x")
    assert complete_run("") == ["tried", "runs/first", "runs/second"]
    assert complete_run("runs/s") == ["runs/second"]
    assert complete_run(f"{workplace}/t") == [f"{workplace}/tried"]
    assert complete_net("t") == ["tictactoe", "tried", "runs/first", "runs/second"]


def test_every_completed_setting_is_taken() -> None:
    found = complete_setting("")
    assert [each.partition("=")[0] for each in found] == setting_names()
    config = RECIPES["tictactoe-demo"]()
    refused = []
    for each in found:
        try:
            apply(config, [each])
        except ValueError as error:
            refused.append((each, error))
    assert not refused


def test_the_names_are_what_the_tool_prints(environment: dict[str, str]) -> None:
    tool = [sys.executable, str(TOOL)]  # alone: tests register own parts
    printed = subprocess.run(tool, env=environment, capture_output=True, check=True).stdout
    message = f"run `python tools/{TOOL.name} > src/rookery/interface/cli/{NAMES.name}`"
    assert NAMES.read_bytes() == printed, message


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("train connect4 --set ", "learning.batch_size="),
        ("train connect4 --recipe ", "connect4-laptop"),
        ("train ", "connect4"),
        ("play ", "tictactoe"),
    ],
)
def test_nothing_slow_is_imported_to_complete(
    environment: dict[str, str], words: str, completed: str
) -> None:
    asked = {"COMP_WORDS": f"rookery {words}", "COMP_CWORD": str(len(words.split(" ")))}
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "rookery"],
        env={**environment, **asked, "_ROOKERY_COMPLETE": "complete_bash"},
        capture_output=True,
        text=True,
    )
    assert completed in done.stdout, done
    assert not SLOW.findall(done.stderr)


@pytest.mark.skipif(not shutil.which("bash"), reason="bash")
def test_bash_completes_commands_games_runs_and_settings(
    environment: dict[str, str], workplace: Path
) -> None:
    """A person types and presses the tabulator."""
    program = workplace / "bin" / "rookery"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m rookery "$@"\n')
    program.chmod(0o755)
    variables = {
        **environment,
        "TERM": "xterm",
        "PS1": "> ",
        "PATH": f"{program.parent}:{environment['PATH']}",
    }
    with Terminal(["bash", "--norc", "--noprofile"], variables, columns=100) as terminal:
        terminal.type('eval "$(rookery --show-completion bash)"; echo re""ady\n')
        terminal.wait_for_text("\nready")
        for typed, completed in {
            "rookery wat": "watch ",
            "rookery train conn": "connect4 ",
            "rookery train --reci": "--recipe ",
            "rookery train tictactoe --recipe tic": "tictactoe-demo ",
            "rookery play runs/s": "runs/second ",
            "rookery resume runs/f": "runs/first ",
            "rookery train tictactoe --set learning.batch_s": "learning.batch_size=",
        }.items():
            start = typed.rpartition(" ")[0]
            terminal.type(f"{typed}\t")
            terminal.wait_for_text(f"{start} {completed}".rstrip())
            terminal.type("\x15")
        terminal.type("exit\n")
        terminal.wait()
