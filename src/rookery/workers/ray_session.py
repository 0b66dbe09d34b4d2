"""The connection of this process to a Ray cluster: made within a time limit, without output."""

import logging
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import cache
from typing import Any

from rookery.base import RookeryError

CONNECT_SECONDS = 10.0
DEAD = "The actor is dead because "
"""The start of the line in which Ray gives the reason."""


def import_ray() -> Any:
    """Return the module ray with usage statistics turned off, or RookeryError if it is missing."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    try:
        import ray
    except ImportError as error:
        raise RookeryError("a cluster needs Ray (pip install 'rookery[cluster]')") from error
    return ray


def connect(address: str) -> None:
    """Connect to the Ray at HOST:PORT, to that of this machine (`auto`), or start one (`local`)."""
    ray = import_ray()
    if address != "local":
        _check(address)
    options = {"include_dashboard": False} if address == "local" else {}
    try:
        with _kept_sigterm(), _loopback_only(ray) if address == "local" else nullcontext():
            ray.init(address, log_to_driver=False, logging_level=logging.ERROR, **options)
    except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        raise RookeryError(f"cannot use the Ray at {address}: {summarize(str(error))}") from error
    ray._private.worker._worker_logs_enabled = False  # it would print what workers print


def summarize(text: str) -> str:
    """Return the sentence of a long explanation that matters: the cause of death, or the last."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    causes = [line.removeprefix(DEAD) for line in lines if line.startswith(DEAD)]
    return (causes or lines)[-1].split(". ")[0].rstrip(".")


def _check(address: str) -> None:
    """Try to connect in another process: Ray may crash, or wait for minutes uninterruptibly."""
    silent = f"no Ray answers at {address} within {CONNECT_SECONDS:.0f} s"
    found = _python("-m", "ray.scripts.scripts", "health-check", "--address", address)
    if found is None:
        raise RookeryError(f"{silent}; start one there: ray start --head")
    if found.returncode:
        raise RookeryError(f"cannot use the Ray at {address}: {summarize(found.stderr)}")
    joined = _python("-c", "import ray, sys; ray.init(sys.argv[1])", address)
    if joined is None or joined.returncode:
        what = f"this machine has not joined the Ray at {address}"
        raise RookeryError(f"{what}; do that first: ray start --address={address}")


def _python(*arguments: str) -> "subprocess.CompletedProcess[str] | None":
    """Run another Python; return how it ended, or None if it did not end in time."""
    command = [sys.executable, *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=CONNECT_SECONDS)
    except subprocess.TimeoutExpired:
        return None


@contextmanager
def _loopback_only(ray: Any) -> Iterator[None]:
    """Make a Ray that is started inside listen on loopback only, and require a token.

    Ray has no option for this: it takes the first address of the machine, even if it is given
    127.0.0.1. But it takes loopback on systems where it does not support clusters, and a variable
    declares this system one of them. Ray reads it when it is imported; its programs inherit it.
    """
    constants, changes = ray._private.ray_constants, _local_variables()
    with_clusters, constants.ENABLE_RAY_CLUSTER = constants.ENABLE_RAY_CLUSTER, False
    try:
        with _changed_environment(changes):
            yield
    finally:
        constants.ENABLE_RAY_CLUSTER = with_clusters


@cache
def _local_variables() -> dict[str, str]:
    """Return the variables for the programs of a private Ray, which reads the token only once."""
    token = secrets.token_hex(32)
    return {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_AUTH_TOKEN": token}


@contextmanager
def _kept_sigterm() -> Iterator[None]:
    """Restore our handler of SIGTERM, which Ray replaces."""
    handler = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, handler)


@contextmanager
def _changed_environment(changes: Mapping[str, str]) -> Iterator[None]:
    """Set variables for the processes that are started inside."""
    before = {name: os.environ.get(name) for name in changes}
    os.environ.update(changes)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
