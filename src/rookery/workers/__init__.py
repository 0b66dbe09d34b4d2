"""Worker processes, on this machine or on a Ray cluster, and the pool that supervises them."""

from rookery.workers.channel import Channel, WorkerFunction
from rookery.workers.cluster import Capacity, Cluster, ClusterWorker
from rookery.workers.messages import Failed, Heartbeat, Message, MessageDamaged, Ready, pack, unpack
from rookery.workers.pool import (
    RestartPolicy,
    Worker,
    WorkerEvent,
    WorkerPool,
    WorkersLost,
    WorkerStats,
)
from rookery.workers.processes import ProcessWorker, preload, thread_limits
from rookery.workers.ray_session import import_ray, summarize

__all__ = [
    "Capacity",
    "Channel",
    "Cluster",
    "ClusterWorker",
    "Failed",
    "Heartbeat",
    "Message",
    "MessageDamaged",
    "ProcessWorker",
    "Ready",
    "RestartPolicy",
    "Worker",
    "WorkerEvent",
    "WorkerFunction",
    "WorkerPool",
    "WorkerStats",
    "WorkersLost",
    "import_ray",
    "pack",
    "preload",
    "summarize",
    "thread_limits",
    "unpack",
]
