"""Where work runs: devices, their memory, launches and graphs. Knows no game and no net."""

from rookery.runtime.crew import Crew, CrewLost, Event, Limits, Worker
from rookery.runtime.devices import find_device, use_device
from rookery.runtime.gpu import (
    Graph,
    Stopwatch,
    as_tensor,
    copy_in,
    cuda,
    kernel,
    launch,
    to_host,
    view,
    zeros,
)
from rookery.runtime.link import Link, LinkClosed, Message, Role, text_array
from rookery.runtime.local import LocalWorker
from rookery.runtime.usage import Usage, UsageReport

__all__ = [
    "Crew",
    "CrewLost",
    "Event",
    "Graph",
    "Limits",
    "Link",
    "LinkClosed",
    "LocalWorker",
    "Message",
    "Role",
    "Stopwatch",
    "Usage",
    "UsageReport",
    "Worker",
    "as_tensor",
    "copy_in",
    "cuda",
    "find_device",
    "kernel",
    "launch",
    "text_array",
    "to_host",
    "use_device",
    "view",
    "zeros",
]
