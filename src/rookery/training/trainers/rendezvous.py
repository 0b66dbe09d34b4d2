"""Where trainers find each other's addresses: a store that other users cannot reach.

Torch's own server, TCPStore, listens on all interfaces and lets anyone read and write. On one
machine the store is a file that only this user can open; on a cluster it is a Ray actor, which is
reached like the trainers themselves.
"""

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from torch.distributed import FileStore, Store  # type: ignore[attr-defined]

from rookery.learning import LOOPBACK
from rookery.training.trainers.cluster_store import ClusterStore, cluster_address
from rookery.workers import Cluster


@dataclass(frozen=True)
class Meeting:
    """Where a trainer finds the others, as part of a message."""

    name: str
    """The path of a folder, or the name of a store of the cluster."""
    on_cluster: bool

    def store(self, generation: int) -> Store:
        """Return the store of a group; each has its own file, as a lost member may truncate it."""
        if self.on_cluster:
            return ClusterStore(self.name)
        return FileStore(str(Path(self.name) / str(generation)))

    def address(self) -> str:
        """Return the address of this machine at which the other trainers reach it."""
        return cluster_address() if self.on_cluster else LOOPBACK


class Rendezvous:
    """The coordinator's side: creates the store, and removes it at the end."""

    def __init__(self, cluster: Cluster | None) -> None:
        self._cluster, self._folder = cluster, None
        if cluster is None:
            self._folder = TemporaryDirectory(prefix="rookery-")
            self.meeting = Meeting(self._folder.name, on_cluster=False)
        else:
            self.meeting = Meeting(cluster.start_store(), on_cluster=True)

    def close(self) -> None:
        """Remove the store."""
        if self._folder is not None:
            self._folder.cleanup()
        elif self._cluster is not None:
            self._cluster.end_store(self.meeting.name)
