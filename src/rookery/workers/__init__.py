"""Worker processes, on this machine or on a Ray cluster, and the pool that supervises them."""

from rookery.workers.channel import Channel, ChannelClosed, WorkerFunction
from rookery.workers.cluster import Capacity, Cluster, ClusterWorker
from rookery.workers.cluster_store import ClusterStore, cluster_address
from rookery.workers.messages import (
    Failed,
    Heartbeat,
    Message,
    MessageDamaged,
    Ready,
    message_classes,
    pack,
    unpack,
)
from rookery.workers.pool import (
    RestartPolicy,
    StartWorker,
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
    "ChannelClosed",
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
    "StartWorker",
    "Worker",
    "WorkerEvent",
    "WorkerFunction",
    "WorkerPool",
    "WorkerStats",
    "WorkersLost",
    "cluster_address",
    "message_classes",
    "pack",
    "thread_limits",
    "unpack",
]
