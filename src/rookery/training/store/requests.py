"""Requests of other processes to the one that trains a run: files scale-*.json in its folder.

The process that trains takes a request by deleting its file. Its answer is a line of the statistics
with the name of the request.
"""

import json
import secrets
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from rookery.base import MALFORMED, FileDamaged, open_file, write_atomic

PATTERN = "scale-*.json"
MAX_BYTES = 10_000


def write_request(run: Path, settings: Sequence[str]) -> Path:
    """Ask for changed settings, given as texts like `run.actors=4`."""
    path = run / f"scale-{time.time_ns():020}-{secrets.token_hex(4)}.json"
    write_atomic(path, json.dumps({"settings": list(settings)}).encode())
    return path


def find_requests(run: Path) -> list[Path]:
    """Return the requests that wait, oldest first."""
    return sorted(run.glob(PATTERN))


def read_request(path: Path) -> list[str]:
    """Return the settings that a request asks for, or FileDamaged."""
    with open_file(path) as file:
        content = file.read(MAX_BYTES)
    try:
        return [str(setting) for setting in json.loads(content)["settings"]]
    except MALFORMED as error:
        raise FileDamaged(f"{path.name} is no request of rookery scale; it is ignored") from error


def drop_old_requests(run: Path) -> None:
    """Delete requests from before the run folder was locked: no command waits for them any more."""
    for path in find_requests(run):
        with suppress(OSError):
            if path.stat().st_mtime_ns < (run / ".lock").stat().st_mtime_ns:
                path.unlink()
