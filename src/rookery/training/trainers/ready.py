"""The trainers that are ready, and those of them that form the group."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from rookery.training.trainers.rows import HeldRows

NO_STATE = -1
"""The updates of a trainer that has no state to continue from."""


@dataclass
class ReadyTrainer:
    """What the pool knows about a trainer that is ready."""

    updates: int = NO_STATE
    rows: HeldRows = field(default_factory=HeldRows)
    pending: int = 0
    """Replies that have not arrived."""
    heard_at: float = 0.0
    """When the last reply arrived, or the first request since then was sent."""

    def note_request(self) -> None:
        """Expect one more reply."""
        if not self.pending:
            self.heard_at = time.monotonic()
        self.pending += 1

    def note_reply(self) -> None:
        """Expect one reply less."""
        self.pending -= 1
        self.heard_at = time.monotonic()


class ReadyTrainers(dict[int, ReadyTrainer]):
    """Ready trainers by number."""

    def __init__(self) -> None:
        super().__init__()
        self.members: list[int] = []
        """Trainers of the group, by rank."""

    def form_group(self) -> None:
        """Make all trainers members."""
        self.members = sorted(self)

    def has_pending_replies(self) -> bool:
        """Return whether a member has not replied to all requests."""
        return any(self[number].pending for number in self.members)

    def discard_states(self) -> None:
        """Note that no trainer has a state to continue from."""
        for known in self.values():
            known.updates = NO_STATE

    def most_updates(self) -> tuple[int, int]:
        """Return the rank of the member with the most updates, and how many it has."""
        updates = [self[number].updates for number in self.members]
        return updates.index(max(updates)), max(updates)

    def silent(self, limit: float) -> Iterator[tuple[int, float]]:
        """Yield trainers that owe a reply for longer than `limit` seconds, and for how long."""
        now = time.monotonic()
        for number, known in self.items():
            if known.pending and now - known.heard_at > limit:
                yield number, now - known.heard_at
