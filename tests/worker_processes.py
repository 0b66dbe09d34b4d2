"""The worker processes of this machine, as the operating system sees them."""

import psutil


def worker_processes(coordinator: psutil.Process | None = None) -> list[psutil.Process]:
    """The workers of a coordinator (this process by default), oldest first."""
    servers = [
        child
        for child in (coordinator or psutil.Process()).children()
        if child.status() != psutil.STATUS_ZOMBIE
        and "multiprocessing.forkserver" in " ".join(child.cmdline())
    ]
    found = [worker for server in servers for worker in server.children()]
    return sorted(found, key=lambda process: process.create_time())
