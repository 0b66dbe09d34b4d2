"""A store for torch's process groups that lives in a Ray actor.

The ranks need no port of their own to find each other, and whoever may not use the cluster cannot
read or change what is in the store.
"""

import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from torch.distributed import Store  # type: ignore[attr-defined]

from rookery.workers.ray_session import import_ray, in_short

POLL_SECONDS = 0.02
"""Between two looks for a key that is waited for."""


class KeyValues:
    """What Ray runs: values by key. Ray makes one call after another, so each is atomic."""

    def __init__(self) -> None:
        self._values: dict[str, bytes] = {}

    def set(self, key: str, value: bytes) -> None:
        """Store a value."""
        self._values[key] = value

    def find(self, keys: Sequence[str]) -> list[bytes | None]:
        """The values of `keys`, None for those that are not there."""
        return [self._values.get(key) for key in keys]

    def add(self, key: str, amount: int) -> int:
        """Increase a number, which starts at 0; return the sum."""
        total = int(self._values.get(key, b"0")) + amount
        self._values[key] = str(total).encode()
        return total

    def compare_set(self, key: str, expected: bytes, desired: bytes) -> bytes:
        """Store `desired` where `expected` or, if that is empty, nothing is; return the value."""
        if self._values.get(key, b"") == expected:
            self._values[key] = desired
        return self._values.get(key, expected)

    def delete(self, key: str) -> bool:
        """Remove a key; return whether it was there."""
        return self._values.pop(key, None) is not None

    def count(self) -> int:
        """The number of keys."""
        return len(self._values)


class ClusterStore(Store):
    """A worker's access to the store `name` of its cluster."""

    timeout: timedelta
    """What `set_timeout` has set."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._ray = import_ray()
        self._name, self._actor = name, None

    def set(self, key: str, value: bytes | str) -> None:
        """Store a value."""
        self._call("set", key, _as_bytes(value))

    def get(self, key: str) -> bytes:
        """The value of `key`, once it is there."""
        return self._await([key], self.timeout)[0]

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        """Return once all `keys` are there."""
        self._await(keys, timeout or self.timeout)

    def check(self, keys: Sequence[str]) -> bool:
        """Whether all `keys` are there."""
        return None not in self._call("find", list(keys))

    def add(self, key: str, amount: int) -> int:
        """Increase a number, which starts at 0; return the sum."""
        total: int = self._call("add", key, amount)
        return total

    def compare_set(self, key: str, expected: bytes | str, desired: bytes | str) -> bytes:
        """Store `desired` where `expected` or, if that is empty, nothing is; return the value."""
        value: bytes = self._call("compare_set", key, _as_bytes(expected), _as_bytes(desired))
        return value

    def delete_key(self, key: str) -> bool:
        """Remove a key; return whether it was there."""
        was_there: bool = self._call("delete", key)
        return was_there

    def num_keys(self) -> int:
        """The number of keys."""
        number: int = self._call("count")
        return number

    deleteKey, getNumKeys = delete_key, num_keys
    """The names under which torch's own C++ code looks for these two."""

    def clone(self) -> "ClusterStore":
        """Return this store: it holds no connection that threads would have to share."""
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
        """Have the actor do something; a RuntimeError where it does not, as torch's stores do."""
        try:
            if self._actor is None:
                self._actor = self._ray.get_actor(self._name)
            reply = getattr(self._actor, method).remote(*arguments)
            return self._ray.get(reply, timeout=self.timeout.total_seconds())
        except (self._ray.exceptions.RayError, ValueError) as error:
            raise RuntimeError(f"the trainers' store is gone: {in_short(str(error))}") from error


def cluster_address() -> str:
    """The address at which the other machines of its cluster reach this worker's machine."""
    address: str = import_ray().util.get_node_ip_address()
    return address


def _as_bytes(value: bytes | str) -> bytes:
    return value if isinstance(value, bytes) else value.encode()
