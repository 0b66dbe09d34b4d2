"""A store for torch's process groups that lives in a Ray actor.

The ranks find each other without opening a port, and only users of the cluster can read or change
the content of the store.
"""

import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from torch.distributed import Store  # type: ignore[attr-defined]

from rookery.workers import import_ray, summarize

POLL_SECONDS = 0.02
"""Between two queries for a missing key."""


class ClusterStore(Store):
    """The store `name` of a cluster, as its workers use it."""

    timeout: timedelta
    """Set by `set_timeout`."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._ray, self._name, self._actor = import_ray(), name, None

    def set(self, key: str, value: bytes | str) -> None:
        """Store a value."""
        self._call("set", key, _as_bytes(value))

    def get(self, key: str) -> bytes:
        """Wait for `key`; return its value."""
        return self._await([key], self.timeout)[0]

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        """Wait for all `keys`."""
        self._await(keys, timeout or self.timeout)

    def check(self, keys: Sequence[str]) -> bool:
        """Return whether all `keys` exist."""
        return None not in self._call("find", list(keys))

    def add(self, key: str, amount: int) -> int:
        """Add to a number, which starts at 0; return the sum."""
        return int(self._call("add", key, amount))

    def compare_set(self, key: str, expected: bytes | str, desired: bytes | str) -> bytes:
        """Replace `expected`, or a missing value if that is empty; return the value stored now."""
        return bytes(self._call("compare_set", key, _as_bytes(expected), _as_bytes(desired)))

    def delete_key(self, key: str) -> bool:
        """Remove a key; return whether it existed."""
        return bool(self._call("delete", key))

    def num_keys(self) -> int:
        """Return the number of keys."""
        return int(self._call("count"))

    deleteKey, getNumKeys = delete_key, num_keys
    """The names that torch's C++ code uses."""

    def clone(self) -> "ClusterStore":
        """Return this store: it has no connection that threads would have to share."""
        return self

    def _await(self, keys: Sequence[str], timeout: timedelta) -> list[bytes]:
        deadline = time.monotonic() + timeout.total_seconds()
        while None in (values := self._call("find", list(keys))):
            if time.monotonic() > deadline:
                missing = [key for key, value in zip(keys, values, strict=True) if value is None]
                raise RuntimeError(f"no member has set {missing[0]} in time")
            time.sleep(POLL_SECONDS)
        found: list[bytes] = values
        return found

    def _call(self, method: str, *arguments: Any) -> Any:
        """Call the actor; raise RuntimeError if it does not answer, as torch's stores do."""
        try:
            if self._actor is None:
                self._actor = self._ray.get_actor(self._name)
            reply = getattr(self._actor, method).remote(*arguments)
            return self._ray.get(reply, timeout=self.timeout.total_seconds())
        except (self._ray.exceptions.RayError, ValueError) as error:
            raise RuntimeError(f"the trainers' store is gone: {summarize(str(error))}") from error


def cluster_address() -> str:
    """Return the address at which the other machines of the cluster reach this machine."""
    return str(import_ray().util.get_node_ip_address())


def _as_bytes(value: bytes | str) -> bytes:
    return value if isinstance(value, bytes) else value.encode()
