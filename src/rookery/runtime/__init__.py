"""Where work runs: devices, their memory, launches and graphs. Knows no game and no net."""

from rookery.runtime.cluster import Capacity, Cluster, ClusterWorker
from rookery.runtime.crew import Crew, CrewLost, Event, Limits, Worker, WorkerFigures
from rookery.runtime.devices import find_device, find_devices, use_device
from rookery.runtime.gpu import (
    Graph,
    Stopwatch,
    as_tensor,
    copy_in,
    cuda,
    kernel,
    launch,
    to_host,
    turn_over,
    view,
    zeros,
)
from rookery.runtime.link import Link, LinkClosed, Message, Role, text_array
from rookery.runtime.local import LocalWorker
from rookery.runtime.store import ClusterStore, cluster_address
from rookery.runtime.usage import Usage, UsageReport

__all__ = [
    "Capacity",
    "Cluster",
    "ClusterStore",
    "ClusterWorker",
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
    "WorkerFigures",
    "as_tensor",
    "cluster_address",
    "copy_in",
    "cuda",
    "find_device",
    "find_devices",
    "kernel",
    "launch",
    "text_array",
    "to_host",
    "turn_over",
    "use_device",
    "view",
    "zeros",
]
