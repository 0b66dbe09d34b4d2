"""A store of keys and values in a Ray actor, which only users of the cluster can reach."""

from collections.abc import Sequence


class KeyValues:
    """The Ray actor: values by key. Ray makes one call after another, so each is atomic."""

    def __init__(self) -> None:
        self._values: dict[str, bytes] = {}

    def set(self, key: str, value: bytes) -> None:
        """Store a value."""
        self._values[key] = value

    def find(self, keys: Sequence[str]) -> list[bytes | None]:
        """Return the values of `keys`, None for missing ones."""
        return [self._values.get(key) for key in keys]

    def add(self, key: str, amount: int) -> int:
        """Add to a number, which starts at 0; return the sum."""
        total = int(self._values.get(key, b"0")) + amount
        self._values[key] = str(total).encode()
        return total

    def compare_set(self, key: str, expected: bytes, desired: bytes) -> bytes:
        """Replace `expected`, or a missing value if that is empty; return the value stored now."""
        if self._values.get(key, b"") == expected:
            self._values[key] = desired
        return self._values.get(key, expected)

    def delete(self, key: str) -> bool:
        """Remove a key; return whether it existed."""
        return self._values.pop(key, None) is not None

    def count(self) -> int:
        """Return the number of keys."""
        return len(self._values)
