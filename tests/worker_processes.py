"""The worker processes of this machine, as the operating system sees them."""

from collections.abc import Iterable, Iterator

import psutil


def worker_processes(coordinator: psutil.Process | None = None) -> list[psutil.Process]:
    """The workers of a coordinator (this process by default), oldest first."""
    children = (coordinator or psutil.Process()).children()
    servers = running(children, "multiprocessing.forkserver")
    found = [worker for server in servers for worker in server.children()]
    return sorted(found, key=lambda process: process.create_time())


def running(processes: Iterable[psutil.Process], text: str) -> Iterator[psutil.Process]:
    """Those that have not ended, with `text` in their command lines."""
    for process in processes:
        try:
            command = process.cmdline()
        except psutil.Error:  # it ended meanwhile, or waits to be noticed
            continue
        if text in " ".join(command):
            yield process
