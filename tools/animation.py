"""A session in a terminal as an animated SVG: train Tic-Tac-Toe, then play against the result.

Everything shown is what the commands print. Only time is changed: the minutes of training pass in
seconds. Each line of the screen is drawn once and shown for as long as it stays, so the file is
small. Who prefers reduced motion sees the last screen.
"""

import os
import shlex
import shutil
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from itertools import groupby
from pathlib import Path

from pseudo_terminal import Screen, Terminal
from pyte.screens import Char
from rich.terminal_theme import SVG_EXPORT_THEME as THEME

COLUMNS, LINES = 80, 24
CELL, LEADING, SIZE, MARGIN, BAR = 12.2, 24.4, 20, 18, 46
"""Width and height of a cell, size of the letters, margin, and height of the title bar."""
TYPED_SECONDS = 0.06
SAMPLE_SECONDS = 1.0
"""How often the screen is looked at while a command runs."""
SAMPLE_SHOWN = 0.14
"""How long what was seen is shown."""
NAMES = ("black", "red", "green", "brown", "blue", "magenta", "cyan", "white")
"""The names that pyte gives to colours; brown is yellow."""
STYLE = """\
text {{ font: {size}px ui-monospace, Consolas, 'DejaVu Sans Mono', monospace; white-space: pre; }}
.s {{ visibility: hidden; animation: {seconds:.2f}s step-end infinite; }}
{rules}
@media (prefers-reduced-motion: reduce) {{
.s {{ animation: none; }}
.last {{ visibility: visible; }}
}}"""
DEADLINE_SECONDS = 1200
SHELL, MOVE = "$ ", "your move: "
"""The prompts."""
ANSWERS = ("1", "hint", "9", "8", "4", "quit")
"""What is typed in the game, unless it ends before."""
Row = tuple[Char, ...]


@dataclass(frozen=True)
class Frame:
    """A screen, and when it appears, in seconds from the start."""

    rows: tuple[Row, ...]
    start: float


class Recording:
    """Frames of a terminal, taken while somebody types."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal, self.frames, self.seconds = terminal, list[Frame](), 0.0

    def hold(self, seconds: float) -> None:
        """Show the present screen for a while."""
        with self._terminal.lock:
            rows = _rows(self._terminal.screen)
        if not self.frames or self.frames[-1].rows != rows:
            self.frames.append(Frame(rows, self.seconds))
        self.seconds += seconds

    def type(self, prompt: str, text: str) -> None:
        """Type a line after `prompt`, letter by letter, and press Enter."""
        line = prompt
        for letter in text:
            line += letter
            self._terminal.type(letter)
            self._terminal.wait_for_end(line.rstrip())
            self.hold(TYPED_SECONDS)
        self.hold(0.4)
        self._terminal.type("\n")

    def follow(self) -> str:
        """Show what happens, much faster, until a line is a prompt, and return the prompt."""
        end = time.monotonic() + DEADLINE_SECONDS
        while time.monotonic() < end:
            time.sleep(SAMPLE_SECONDS)
            for prompt in (SHELL, MOVE):
                if self._terminal.text().endswith(f"\n{prompt.rstrip()}"):
                    return prompt
            self.hold(SAMPLE_SHOWN)
        raise TimeoutError(self._terminal.text())


def _rows(screen: Screen) -> tuple[Row, ...]:
    rows = [[screen.buffer[y][x] for x in range(COLUMNS)] for y in range(LINES)]
    if not screen.cursor.hidden:
        row, column = rows[screen.cursor.y], min(screen.cursor.x, COLUMNS - 1)
        row[column] = row[column]._replace(reverse=True)
    return tuple(map(tuple, rows))


def record(folder: Path) -> Recording:
    """Train and play in `folder`, which is emptied first."""
    shutil.rmtree(folder, ignore_errors=True)
    program = folder / "bin" / "rookery"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m rookery "$@"\n')
    program.chmod(0o755)
    kept = {name: text for name, text in os.environ.items() if name not in ("COLUMNS", "LINES")}
    path = f"{program.parent}:{os.environ['PATH']}"
    env = {**kept, "PATH": path, "PS1": SHELL, "TERM": "xterm-256color", "LANG": "C.UTF-8"}
    shell = ["bash", "--norc", "--noprofile"]
    with Terminal(shell, env, columns=COLUMNS, lines=LINES, folder=str(folder)) as terminal:
        terminal.wait_for_text("$")
        recording = Recording(terminal)
        recording.hold(0.8)
        recording.type(SHELL, "rookery train tictactoe")
        recording.follow()
        recording.hold(3.5)
        recording.type(SHELL, "clear")
        terminal.wait_for(lambda shown: shown == SHELL.rstrip())
        recording.type(SHELL, "rookery play runs/tictactoe-1")
        for answer in ANSWERS:
            if recording.follow() == SHELL:
                break
            recording.hold(1.8)
            recording.type(MOVE, answer)
        recording.follow()
        recording.hold(5.0)
    return recording


def animate(recording: Recording, title: str) -> str:
    """Return the animation."""
    spans = list(_spans(recording))
    names = {row: f"r{number}" for number, row in enumerate(dict.fromkeys(s[1] for s in spans))}
    times = {when: f"k{number}" for number, when in enumerate(dict.fromkeys(s[2:] for s in spans))}
    total = recording.seconds
    rules = [_rule(name, start / total, end / total) for (start, end), name in times.items()]
    width, height = 2 * MARGIN + COLUMNS * CELL, BAR + LINES * LEADING + MARGIN
    shown = [
        f'<use href="#{names[row]}" y="{y * LEADING:g}" '
        f'class="s {times[start, end]}{" last" if end >= total else ""}"/>'
        for y, row, start, end in spans
    ]
    back, ink = THEME.background_color.hex, THEME.foreground_color.hex
    dots = "".join(
        f'<circle cx="{26 + 22 * number}" cy="24" r="7" fill="{colour}"/>'
        for number, colour in enumerate(("#ff5f57", "#febc2e", "#28c840"))
    )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
            'role="img">',
            f"<title>{escape(title)}</title>",
            f"<style>\n{STYLE.format(size=SIZE, seconds=total, rules=''.join(rules))}\n</style>",
            f"<defs>{''.join(_line(row, name) for row, name in names.items())}</defs>",
            f'<rect x="1" y="1" width="{width - 2:g}" height="{height - 2:g}" rx="8" '
            f'fill="{back}" stroke="rgba(255,255,255,0.35)"/>{dots}',
            f'<g transform="translate({MARGIN}, {BAR})" fill="{ink}">',
            *shown,
            "</g>\n</svg>\n",
        ]
    )


def _spans(recording: Recording) -> Iterator[tuple[int, Row, float, float]]:
    """Yield line, content, start and end of everything that stays on a line for some time."""
    ends = [*(frame.start for frame in recording.frames[1:]), recording.seconds]
    for y in range(LINES):
        shown = [(f.rows[y], f.start, end) for f, end in zip(recording.frames, ends, strict=True)]
        for row, same in groupby(shown, key=lambda each: each[0]):
            times = list(same)
            if any(_is_visible(cell) for cell in row):
                yield y, row, times[0][1], times[-1][2]


def _is_visible(cell: Char) -> bool:
    return bool(cell.data.strip()) or cell.reverse


def _rule(name: str, start: float, end: float) -> str:
    """Return the style of what is visible from `start` to `end`, both shares of the whole."""
    steps = ["0%{visibility:hidden}"] if start > 0 else []
    steps.append(f"{100 * start:.2f}%{{visibility:visible}}")
    steps += [f"{100 * end:.2f}%{{visibility:hidden}}"] if end < 1 else []
    return f"@keyframes {name}{{{''.join(steps)}}}.{name}{{animation-name:{name}}}"


def _line(row: Row, name: str) -> str:
    """Return the text of one line, in runs of one style."""
    parts, x = [], 0
    for style, same in groupby(row, key=lambda cell: cell._replace(data="")):
        text = "".join(cell.data for cell in same)
        parts.append(_run(text, style, x))
        x += len(text)
    return f'<g id="{name}">{"".join(parts)}</g>'


def _run(text: str, style: Char, x: int) -> str:
    ink, back = _colour(style), ""
    if style.reverse:
        width = len(text) * CELL
        size = f'width="{width:g}" height="{LEADING}"'
        back, ink = f'<rect x="{x * CELL:g}" {size} fill="{ink}"/>', THEME.background_color.hex
    x, shown = x + len(text) - len(text.lstrip()), text.strip()
    if not shown:
        return back
    fill = f' fill="{ink}"' if ink != THEME.foreground_color.hex else ""
    weight = ' font-weight="bold"' if style.bold else ""
    return (
        f'{back}<text x="{x * CELL:g}" y="{SIZE - 2}" textLength="{len(shown) * CELL:g}"'
        f"{fill}{weight}>{escape(shown)}</text>"
    )


def _colour(style: Char) -> str:
    if style.italics:
        return "#9a9c9b"
    if style.fg in NAMES:
        return THEME.ansi_colors[NAMES.index(style.fg)].hex
    if style.fg.startswith("bright"):
        return THEME.ansi_colors[8 + NAMES.index(style.fg.removeprefix("bright"))].hex
    return THEME.foreground_color.hex if style.fg == "default" else f"#{style.fg}"
