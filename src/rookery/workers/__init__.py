"""Worker processes, on this machine or on a Ray cluster, and the pool that supervises them."""

from rookery.workers.channel import Channel, ChannelClosed, Message, WorkerFunction, bytes_array
from rookery.workers.cluster import Capacity, Cluster, ClusterWorker
from rookery.workers.cluster_store import ClusterStore, cluster_address
from rookery.workers.pool import (
    RestartPolicy,
    Worker,
    WorkerEvent,
    WorkerPool,
    WorkersLost,
    WorkerStats,
)
from rookery.workers.processes import ProcessWorker

__all__ = [
    "Capacity",
    "Channel",
    "ChannelClosed",
    "Cluster",
    "ClusterStore",
    "ClusterWorker",
    "Message",
    "ProcessWorker",
    "RestartPolicy",
    "Worker",
    "WorkerEvent",
    "WorkerFunction",
    "WorkerPool",
    "WorkerStats",
    "WorkersLost",
    "bytes_array",
    "cluster_address",
]
