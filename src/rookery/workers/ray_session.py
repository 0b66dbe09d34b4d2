"""This process as a driver of a Ray cluster: connected within a limit of time, and quiet."""

import logging
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from typing import Any

from rookery.base import RookeryError
from rookery.workers.processes import changed_environment

CONNECT_SECONDS = 10.0
DEAD = "The actor is dead because "
"""How Ray begins the line that says why."""


def import_ray() -> Any:
    """Ray, where it is installed; it collects no statistics of use."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    try:
        import ray
    except ImportError as error:
        raise RookeryError("a cluster needs Ray (pip install 'rookery[cluster]')") from error
    return ray


def connect(address: str) -> None:
    """Join the Ray at HOST:PORT, the one of this machine (`auto`), or start one (`local`)."""
    ray = import_ray()
    if address != "local":
        _check(address)
    options = {"include_dashboard": False} if address == "local" else {}
    try:
        with _sigterm_kept(), _on_loopback(ray) if address == "local" else nullcontext():
            ray.init(address, log_to_driver=False, logging_level=logging.ERROR, **options)
    except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        raise RookeryError(f"cannot use the Ray at {address}: {in_short(str(error))}") from error
    ray._private.worker._worker_logs_enabled = False  # else it prints what the crew tells


def in_short(text: str) -> str:
    """The sentence of a long explanation that says it: Ray's cause of death, or the last line's."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    causes = [line.removeprefix(DEAD) for line in lines if line.startswith(DEAD)]
    return (causes or lines)[-1].split(". ")[0].rstrip(".")


def _check(address: str) -> None:
    """Try it in other processes: Ray waits for minutes, cannot be interrupted, and may crash."""
    silent = f"no Ray answers at {address} within {CONNECT_SECONDS:.0f} s"
    found = _python("-m", "ray.scripts.scripts", "health-check", "--address", address)
    if found is None:
        raise RookeryError(f"{silent}; start one there: ray start --head")
    if found.returncode:
        raise RookeryError(f"cannot use the Ray at {address}: {in_short(found.stderr)}")
    joined = _python("-c", "import ray, sys; ray.init(sys.argv[1])", address)
    if joined is None or joined.returncode:
        what = f"this machine has not joined the Ray at {address}"
        raise RookeryError(f"{what}; do that first: ray start --address={address}")


def _python(*arguments: str) -> "subprocess.CompletedProcess[str] | None":
    """How another Python ended, or None if it did not end in time."""
    command = [sys.executable, *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=CONNECT_SECONDS)
    except subprocess.TimeoutExpired:
        return None


@contextmanager
def _on_loopback(ray: Any) -> Iterator[None]:
    """Have a Ray that is started inside listen on loopback only, and to this process's token.

    Ray has no option for that: it takes the first address of the machine, even where it is given
    127.0.0.1. But on systems on which it has no clusters it takes loopback, and a variable
    declares any system one of those. Ray reads it when it is imported; its programs inherit it.
    """
    constants, changes = ray._private.ray_constants, _local_variables()
    with_clusters, constants.ENABLE_RAY_CLUSTER = constants.ENABLE_RAY_CLUSTER, False
    try:
        with changed_environment(changes):
            yield
    finally:
        constants.ENABLE_RAY_CLUSTER = with_clusters


@cache
def _local_variables() -> dict[str, str]:
    """Variables for the programs of a Ray for us alone; the token is one that Ray reads once."""
    token = secrets.token_hex(32)
    return {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_AUTH_TOKEN": token}


@contextmanager
def _sigterm_kept() -> Iterator[None]:
    """Ray puts a handler of its own in the place of ours."""
    handler = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, handler)
