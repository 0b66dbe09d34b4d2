"""Search trees of all users, with a limit on their memory together.

A tree stays after its analysis, so that it can be looked into and searched further. When memory
is needed, the trees that have been idle for longest are dropped.
"""

import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

import psutil

from rookery.api import Analysis
from rookery.base import ConfigError
from rookery.games import Game
from rookery.search import nodes_in_memory

MEGABYTE = 2**20
TREE_MB = 256
"""Largest tree."""
MAX_MB = 1024
"""All trees together, or an eighth of the machine's memory if that is less."""
SPARE_NODES = 256
"""Room beyond the simulations asked for: batches of leaves, and the root."""


class Owner(Protocol):
    """Whoever asks; its trees go when it is closed."""

    is_closed: bool


@dataclass(eq=False)
class Tree:
    """The tree of one analysis."""

    owner: Owner
    analysis: Analysis
    bytes: int
    nodes: int
    """Simulations that it has room for."""
    lock: threading.Lock = field(default_factory=threading.Lock)
    """Held while the tree is searched or read."""
    users: int = 0
    """Questions that use it now."""


class Trees:
    """Trees by owner and key; the least recently used first."""

    def __init__(self, max_bytes: int | None = None) -> None:
        limit = min(MAX_MB * MEGABYTE, psutil.virtual_memory().total // 8)
        self._max_bytes = limit if max_bytes is None else max_bytes
        self._bytes = 0
        self._kept: dict[tuple[Owner, Hashable], Tree] = {}
        self._lock = threading.Lock()

    @property
    def bytes(self) -> int:
        """Memory reserved for all trees."""
        return self._bytes

    def __len__(self) -> int:
        """Return the number of trees kept."""
        return len(self._kept)

    @contextmanager
    def use(
        self,
        owner: Owner,
        key: Hashable,
        *,
        game: Game,
        nodes: int,
        make: Callable[[int], Analysis],
    ) -> Iterator[Tree]:
        """Yield the tree of this key with room for `nodes`, kept afterwards; ConfigError if none.

        `make` creates an analysis with at most that many positions.
        """
        nodes = min(nodes + SPARE_NODES, nodes_in_memory(game, TREE_MB))
        tree = self._find(owner, key, nodes) or self._add(owner, key, game, nodes, make)
        try:
            yield tree
        finally:
            with self._lock:
                tree.users -= 1
                is_kept = self._kept.get((owner, key)) is tree
                if is_kept and owner.is_closed:
                    self._forget((owner, key))
                elif not is_kept:
                    self._bytes -= tree.bytes

    @contextmanager
    def use_once(
        self, *, game: Game, nodes: int, make: Callable[[int], Analysis]
    ) -> Iterator[Analysis]:
        """Yield an analysis whose tree is dropped afterwards."""
        nodes = min(nodes + SPARE_NODES, nodes_in_memory(game, TREE_MB))
        size = _bytes_of(game, nodes)
        self._reserve(size)
        try:
            yield make(nodes)
        finally:
            with self._lock:
                self._bytes -= size

    def find(self, owner: Owner, key: Hashable) -> Tree | None:
        """Return the tree of an owner if it is still there."""
        with self._lock:
            return self._kept.get((owner, key))

    def drop(self, owner: Owner) -> None:
        """Forget all trees of an owner; those in use end with their question."""
        with self._lock:
            for key in [key for key in self._kept if key[0] is owner]:
                self._forget(key)

    def _find(self, owner: Owner, key: Hashable, nodes: int) -> Tree | None:
        with self._lock:
            tree = self._kept.pop((owner, key), None)
            if tree is None:
                return None
            self._kept[owner, key] = tree  # now the most recently used
            if tree.nodes < nodes or tree.users:
                self._forget((owner, key))
                return None
            tree.users += 1
            return tree

    def _add(
        self,
        owner: Owner,
        key: Hashable,
        game: Game,
        nodes: int,
        make: Callable[[int], Analysis],
    ) -> Tree:
        size = _bytes_of(game, nodes)
        self._reserve(size)
        try:
            tree = Tree(owner, make(nodes), size, nodes, users=1)
        except BaseException:
            with self._lock:
                self._bytes -= size
            raise
        with self._lock:
            self._kept[owner, key] = tree
        return tree

    def _reserve(self, size: int) -> None:
        """Make room by dropping idle trees, the oldest first."""
        with self._lock:
            for key in [key for key, tree in self._kept.items() if not tree.users]:
                if self._bytes + size <= self._max_bytes:
                    break
                self._forget(key)
            if self._bytes + size > self._max_bytes:
                raise ConfigError("the server searches too many positions at once; try again later")
            self._bytes += size

    def _forget(self, key: tuple[Owner, Hashable]) -> None:
        tree = self._kept.pop(key)
        if not tree.users:
            self._bytes -= tree.bytes


def _bytes_of(game: Game, nodes: int) -> int:
    return nodes * TREE_MB * MEGABYTE // nodes_in_memory(game, TREE_MB)
