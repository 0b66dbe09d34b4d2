"""Make the pictures of the documentation: diagrams, boards, terminals and curves of real runs.

    python tools/make_pictures.py            all of them; the run takes a minute on two cores
    python tools/make_pictures.py gpu-waves  some of them

The run is kept in runs/pictures and used again; `session` trains one of its own each time. Needs
the extras `plot` and `dev`.
"""

import argparse
import io
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from html import escape
from pathlib import Path

from animation import animate, record
from diagrams import DIAGRAMS
from drawing import FONT, Drawing
from rich.console import Console
from rich.text import Text

import rookery as rk
from rookery.interface.watch import watch_run

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "pictures"
FOLDER = ROOT / "runs" / "pictures"
"""Where the runs are, and the files of the tutorials that they use."""
COLUMNS = 92
MARGIN = 16
TERMINAL = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Consolas, 'DejaVu Sans Mono', monospace;
  font-size: {char_height}px; line-height: {line_height}px; }}
.{unique_id}-title {{ font-family: system-ui, 'DejaVu Sans', sans-serif; font-size: 18px; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""
"""A terminal, in fonts that every system has."""
RUNS = {"tictactoe-demo": ("tictactoe",)}
"""What each run trains."""
POSITIONS = {
    "tictactoe": "159",
    "connect4": "44444325665",
    "chess": "r1bqk1nr/pppp1ppp/2n5/2b1p3/2B1P3/5N2/PPPP1PPP/RNBQK2R w KQkq - 4 4",
}
FILES = {"breakthrough.py": "tutorial-own-game.md"}
"""Files that tutorials show and pictures need, and their pages."""


def rookery(*words: str) -> str:
    """Run a command of Rookery where the runs are, and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "rookery", *words],
        cwd=FOLDER,
        env={**os.environ, "COLUMNS": str(COLUMNS)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout


def run_folder(name: str) -> Path:
    """Return the folder of a run, trained if it does not exist."""
    if not (FOLDER / name).exists():
        print(f"training {name}", flush=True)
        rookery("train", *RUNS[name], "--run", name)
    return FOLDER / name


def write_tutorial_files() -> None:
    """Write the rules that the tutorials show."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, page in FILES.items():
        text = (ROOT / "docs" / page).read_text("ascii")
        (found,) = re.findall(rf'^```python title="{name}"\n(.*?)^```', text, re.S | re.M)
        (FOLDER / name).write_text(found)


def board(name: str, position: str) -> str:
    """Return a board on a light card."""
    return on_card([rk.Board(name, position).svg()], [""])


def on_card(boards: Sequence[str], captions: Sequence[str]) -> str:
    """Return boards side by side, with a line of text below each."""
    sizes = [tuple(map(int, re.findall(r'(?:width|height)="(\d+)"', svg)[:2])) for svg in boards]
    tallest = max(height for _, height in sizes)
    below = 30 if any(captions) else 0
    shapes, x = [], MARGIN
    for svg, (width, height), caption in zip(boards, sizes, captions, strict=True):
        y = MARGIN + (tallest - height) // 2
        shapes.append(svg.replace("<svg ", f'<svg x="{x}" y="{y}" ', 1))
        shapes.append(
            f'<text x="{x + width / 2}" y="{MARGIN + tallest + 24}" text-anchor="middle" '
            f'font-size="15" fill="#22313a">{escape(caption)}</text>'
        )
        x += width + 2 * MARGIN
    width, height = x - MARGIN, tallest + 2 * MARGIN + below
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" role="img" font-family="{FONT}">',
            f'<rect width="{width}" height="{height}" rx="10" fill="#ffffff"/>',
            *shapes,
            "</svg>\n",
        ]
    )


def games() -> str:
    """Return a position of each bundled game."""
    boards = [rk.Board(name, position).svg() for name, position in POSITIONS.items()]
    return on_card(boards, ["Tic-Tac-Toe", "Connect Four", "Chess"])


def panel(name: str) -> str:
    """Return what `rookery watch` shows of a run."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    here = Path.cwd()
    os.chdir(run_folder(name).parent)  # the title of the panel is the path
    watch_run(Path(name), console, once=True)
    os.chdir(here)
    return console.export_svg(title=f"rookery watch {name}", code_format=TERMINAL, unique_id=name)


def terminal(name: str, command: str) -> str:
    """Return a terminal with a command and what it prints."""
    return terminal_svg(name, f"$ {command}", rookery(*command.split()[1:]))


def terminal_svg(name: str, command: str, text: str) -> str:
    """Return a picture of a terminal."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text(command, style="bold"))
    console.print(Text(text.rstrip()))
    return console.export_svg(title="", code_format=TERMINAL, unique_id=name)


def plot(*runs: str, what: str) -> str:
    """Return the curves of runs."""
    out = FOLDER / "plot.svg"
    out.unlink(missing_ok=True)
    names = [run_folder(run).name for run in runs]
    rookery("plot", *names, "--out", out.name, "--x", "games", "--what", what)
    return out.read_text("utf-8")


def session() -> str:
    """Return an animation of a terminal: training, then a game against the result."""
    title = "A terminal: rookery trains Tic-Tac-Toe in a panel, then plays a game"
    return animate(record(FOLDER / "session"), title)


def diagram(draw: Callable[[], Drawing]) -> str:
    """Return a drawn picture."""
    return draw().svg()


REAL: dict[str, Callable[[], str]] = {
    "games": games,
    "session": session,
    "demo-panel": lambda: panel("tictactoe-demo"),
    "demo-curves": lambda: plot("tictactoe-demo", what="strength,loss"),
    "demo-eval": lambda: terminal("demo-eval", "rookery eval tictactoe-demo"),
    "connect4-board": lambda: board("connect4", "4453"),
    "breakthrough-board": lambda: board(str(FOLDER / "breakthrough.py"), "b2c3e5d4"),
}
"""Pictures that are made from runs, positions and commands."""
MAKERS: dict[str, Callable[[], str]] = {
    **{name: partial(diagram, draw) for name, draw in DIAGRAMS.items()},
    **REAL,
}


def main() -> None:
    """Make the pictures that are asked for."""
    parser = argparse.ArgumentParser(description="Make the pictures of the documentation.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(MAKERS))
    names = parser.parse_args().names or list(MAKERS)
    if unknown := set(names) - set(MAKERS):
        parser.error(f"unknown pictures: {', '.join(sorted(unknown))}")
    write_tutorial_files()
    for name in names:
        path = PICTURES / f"{name}.svg"
        path.write_text(MAKERS[name](), encoding="utf-8")
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1000:.0f} kB", flush=True)


if __name__ == "__main__":
    main()
