"""What a run may do instead of ending with an error, as `run.fallback` allows it.

Every fallback is announced once, and counted in each line of the statistics while it is active.
"""

from collections import Counter

from rookery.base import RookeryError, UnknownName

KINDS = {
    "device": "train on the CPU if `auto` finds no usable GPU",
    "inference": "evaluate the network with a slower backend",
    "memory": "play fewer games or split batches if a GPU has too little memory",
    "method": "learn in one process if trainers cannot learn together",
    "workers": "continue without workers that fail too often",
}


class FallbackRefused(RookeryError):
    """A fallback that the settings do not allow."""


def allowed_kinds(text: str) -> frozenset[str]:
    """Return the kinds in `all`, `none` or a list such as `memory,workers`."""
    names = {"all": list(KINDS), "none": []}.get(text, text.split(","))
    for name in names:
        if name.strip() not in KINDS:
            raise UnknownName("run.fallback", name.strip(), ("all", "none", *KINDS))
    return frozenset(name.strip() for name in names)


class Fallbacks:
    """The fallbacks of a run that are active."""

    def __init__(self, allowed: str) -> None:
        self._allowed = allowed_kinds(allowed)
        self._active: Counter[str] = Counter()

    def take(self, kind: str, reason: str) -> None:
        """Count a fallback, or raise FallbackRefused if it is not allowed."""
        if kind not in self._allowed:
            raise FallbackRefused(f"{reason}; add {kind} to run.fallback to allow that")
        self._active[kind] += 1

    def counts(self) -> dict[str, int]:
        """Return how often each kind was used since the run was started or resumed."""
        return {kind: self._active[kind] for kind in KINDS}
