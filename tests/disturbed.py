"""A crew that meets with violence."""

import psutil

from rookery.workers import Message, WorkerPool


def workers() -> list[psutil.Process]:
    """The processes that were started for a crew and are still there."""
    children = psutil.Process().children()
    return [child for child in children if "spawn_main" in " ".join(child.cmdline())]


class KilledAtFirstAnswer(WorkerPool):
    """All its workers are killed when one of them has answered for the first time."""

    is_done = False

    def poll(self) -> list[tuple[int, Message]]:
        found = super().poll()
        if not self.is_done and any(message.kind == "seen" for _, message in found):
            self.is_done = True
            for worker in workers():
                worker.kill()
        return found
