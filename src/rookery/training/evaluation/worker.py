"""An evaluation worker: a process that runs parts of tasks."""

from rookery import __version__
from rookery.training.evaluation.tasks import RunPart, Tasks, one_thread_for_nets, run_part
from rookery.workers import Channel, Ready

WAIT_SECONDS = 1.0


def evaluation_worker(channel: Channel, job: None) -> None:
    """Run the parts that the coordinator asks for, until the channel closes."""
    tasks = Tasks(())
    with one_thread_for_nets():
        channel.send(Ready(__version__))
        while True:
            match channel.receive(WAIT_SECONDS):
                case Tasks() as tasks:
                    continue
                case RunPart() as message:
                    channel.send(run_part(tasks, message))
