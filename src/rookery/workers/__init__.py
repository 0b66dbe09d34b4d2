"""Worker processes, on this machine or on a Ray cluster, and the pool that supervises them."""

from rookery.workers.channel import Channel, WorkerFunction
from rookery.workers.cluster import Capacity, Cluster, ClusterWorker
from rookery.workers.cluster_store import ClusterStore, cluster_address
from rookery.workers.messages import Failed, Heartbeat, Message, MessageDamaged, Ready, pack, unpack
from rookery.workers.pool import (
    RestartPolicy,
    Worker,
    WorkerEvent,
    WorkerPool,
    WorkersLost,
    WorkerStats,
)
from rookery.workers.processes import ProcessWorker, thread_limits

__all__ = [
    "Capacity",
    "Channel",
    "Cluster",
    "ClusterStore",
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
    "cluster_address",
    "pack",
    "thread_limits",
    "unpack",
]
