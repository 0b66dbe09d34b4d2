"""The first lines of a benchmark's output: machine, date, versions and command line."""

import platform
import shlex
import sys
from datetime import UTC, datetime
from pathlib import Path

import torch

from rookery import __version__
from rookery.base import available_cores


def print_heading() -> None:
    """Print on which machine, when and by which command the following was measured."""
    print("\n".join(heading()), flush=True)


def heading() -> list[str]:
    """Return on which machine, when and by which command something was measured."""
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    versions = f"rookery {__version__}, torch {torch.__version__}"
    return [f"{_machine()}; {versions}; {now}", f"command: python {shlex.join(sys.argv)}"]


def _machine() -> str:
    cores = f"{_processor()}, {available_cores()} cores"
    if not torch.cuda.is_available():
        return cores
    names = [torch.cuda.get_device_name(n) for n in range(torch.cuda.device_count())]
    return f"{', '.join(names)}; {cores}"


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def print_table(headings: list[str], rows: list[list[str]]) -> None:
    """Print a table in Markdown."""
    print("\n".join(table(headings, rows)), flush=True)


def table(headings: list[str], rows: list[list[str]]) -> list[str]:
    """Return the lines of a table in Markdown."""
    widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
    lines = []
    for cells in (headings, ["-" * width for width in widths], *rows):
        padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=True)]
        lines.append(f"| {' | '.join(padded)} |")
    return lines
