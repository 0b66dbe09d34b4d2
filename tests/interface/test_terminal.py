"""What people see: commands in pseudo-terminals of several sizes, kinds and languages."""

import re
import sys
from pathlib import Path

import pytest

from terminals import STALE, Terminal

SIZES = [(200, 50), (80, 24), (60, 24), (33, 9), (120, 12), (25, 5), (80, 24)]
ENDLESS = ["--set", "run.iterations=0", "--set", "run.minutes=60"]
FRAME = re.compile("^[\u256d\u2502\u2570].*[\u256e\u2502\u256f]$")


def rookery(*words: object) -> list[str]:
    return [sys.executable, "-m", "rookery", *map(str, words)]


@pytest.fixture
def variables(environment: dict[str, str]) -> dict[str, str]:
    """The variables of a terminal in which somebody works."""
    kept = {name: text for name, text in environment.items() if not name.startswith("LC_")}
    kept = {name: text for name, text in kept.items() if name not in ("COLUMNS", "LINES")}
    return {**kept, "TERM": "xterm-256color", "LANG": "en_US.UTF-8", "PYTHONUTF8": "1"}


def panel_in(text: str) -> list[str]:
    """The lines of the panel if it is whole: one frame of one width, closed at both ends."""
    lines = text.splitlines()
    panel = [line for line in lines if line.startswith(("\u256d", "\u2502", "\u2570"))]
    starts = "".join(line[0] for line in panel)
    is_whole = re.fullmatch("\u256d\u2502+\u2570", starts) and all(map(FRAME.match, panel))
    return panel if is_whole and len({len(line) for line in panel}) == 1 else []


def redrawn(terminal: Terminal, columns: int, lines: int, width: int) -> str:
    """The screen after a resize, once it has a whole panel and nothing of before."""
    terminal.resize(columns, lines)
    return terminal.wait_for(
        lambda text: STALE not in text and any(len(line) == width for line in panel_in(text))
    )


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals")
def test_the_panel_of_a_run_is_whole_at_every_size(
    tiny: list[str], variables: dict[str, str], tmp_path: Path
) -> None:
    command = rookery("train", "tictactoe", "--run", tmp_path / "run", *tiny, *ENDLESS)
    with Terminal(command, variables) as terminal:
        terminal.wait_for(lambda text: "positions/s" in text)
        for columns, lines in SIZES:
            seen = redrawn(terminal, columns, lines, min(76, columns - 4))
            others = [line for line in seen.splitlines() if line not in panel_in(seen)]
            assert not re.search("[\u2500-\u257f]", "".join(others)), "a piece of an older panel"
        terminal.type("\x03")
        assert terminal.wait() == 0
        seen = terminal.text()
    assert "Stopped: tictactoe in" in seen and "resume where it stopped" in " ".join(seen.split())
    assert not re.search("[\u256d\u2570]", seen) and "^C" not in seen


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals")
def test_watching_fills_the_screen_at_every_size(own_run: Path, variables: dict[str, str]) -> None:
    stats = own_run / "stats.jsonl"
    kept = [line for line in stats.read_text().splitlines() if '"kind": "finished"' not in line]
    kept = [line for line in kept if '"kind":"finished"' not in line]
    stats.write_text("\n".join(kept) + "\n")
    with Terminal(rookery("watch", own_run), variables) as terminal:
        terminal.wait_for(lambda text: "to resume" in text)
        for columns, lines in SIZES:
            seen = redrawn(terminal, columns, lines, columns)
            assert panel_in(seen) == seen.splitlines()
        terminal.type("\x03")
        assert terminal.wait() == 0
        assert "stopped" in terminal.text(), "the last panel stays"


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals")
@pytest.mark.parametrize(
    "kind", [{"TERM": "dumb"}, {"TERM": "xterm", "NO_COLOR": "1"}, {"TERM": "screen", "LANG": "C"}]
)
def test_every_kind_of_terminal_gets_what_it_can_show(
    finished_run: Path, variables: dict[str, str], kind: dict[str, str]
) -> None:
    command = rookery("play", finished_run, "--simulations", 2)
    with Terminal(command, {**variables, **kind}) as terminal:
        terminal.wait_for(lambda text: "your move:" in text)
        terminal.type("5\nhint\nquit\n")
        assert terminal.wait() == 0
    assert "tiny would play" in terminal.text()
    styles = set(re.findall(rb"\x1b\[([\d;]+)m", terminal.raw))
    if kind["TERM"] == "dumb":
        assert b"\x1b" not in terminal.raw
    if "NO_COLOR" in kind:
        assert styles and not any(re.search(rb"\b[349]\d\b", style) for style in styles)
    if kind.get("LANG") == "C":
        assert terminal.raw.isascii() and styles


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals")
def test_a_terminal_without_a_cursor_gets_lines_while_a_run_trains(
    tiny: list[str], variables: dict[str, str], tmp_path: Path
) -> None:
    command = rookery("train", "tictactoe", "--run", tmp_path / "run", *tiny)
    with Terminal(command, {**variables, "TERM": "dumb"}, lines=50) as terminal:
        assert terminal.wait() == 0
    assert b"\x1b" not in terminal.raw and "Finished: tictactoe" in terminal.text()
