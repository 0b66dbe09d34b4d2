"""Evaluation workers that are killed or that fail."""

from rookery import __version__
from rookery.training.evaluation.tasks import PartDone, RunPart
from rookery.workers import Channel, Message, Ready, WorkerPool
from worker_processes import worker_processes


class KilledAtFirstResult(WorkerPool):
    """A pool whose workers are all killed when the first result has arrived."""

    is_done = False

    def poll(self) -> list[tuple[int, Message]]:
        found = super().poll()
        if not self.is_done and any(isinstance(message, PartDone) for _, message in found):
            self.is_done = True
            for worker in worker_processes():
                worker.kill()
        return found


def fail_at_first_part(channel: Channel, job: None) -> None:
    """Fail as soon as there is a part to run."""
    channel.send(Ready(__version__))
    while True:
        if isinstance(channel.receive(1.0), RunPart):
            raise ValueError("this worker always fails")
