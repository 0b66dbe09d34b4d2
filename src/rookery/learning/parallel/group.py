"""A process group: the ranks that learn together as long as none of them is lost.

All communication goes through here, so that waiting time and bytes are counted and every failure
raises GroupFailed. A group that failed is not repaired; its ranks form a new one.

Bytes are those of the tensors, in the direction in which they cross the network: sums and
all_gather go around a ring, gather and broadcast between the root and each other rank.

The backends open ports only on the network interface of the address that a rank was given. Ranks
exchange tensors and JSON, never pickles, which could run arbitrary code.
"""

import json
import os
import socket
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import numpy as np
import psutil
import torch
from torch import Tensor, distributed
from torch.distributed import PrefixStore, Store  # type: ignore[attr-defined]

from rookery.base import RookeryError

GATHER_BELOW = 4096
"""With gloo, smaller tensors are gathered and added here: its all_reduce has three times the
latency."""
LOOPBACK = "127.0.0.1"
ROOT = 0
"""The rank that gathers, serves and reports."""


class GroupFailed(RookeryError):
    """A rank is gone, or too slow to answer."""


@dataclass(frozen=True)
class RankSpec:
    """How a process joins a group."""

    store: Store
    """Where ranks exchange their addresses; shared by all ranks of the group and no others."""
    generation: int
    """Tells groups that use the same store apart."""
    rank: int
    size: int
    address: str = LOOPBACK
    """The address of this machine at which the other ranks reach it."""
    backend: str = "gloo"
    silence_seconds: float = 10.0
    """Seconds that a rank waits for the others before the group fails."""


@dataclass
class TrafficStats:
    """Communication of one rank."""

    blocked: float = 0.0
    """Seconds spent waiting."""
    sent: int = 0
    """Bytes sent."""
    received: int = 0
    """Bytes received."""


class ProcessGroup:
    """This process as a rank of a group; all ranks construct it at the same time."""

    def __init__(self, spec: RankSpec) -> None:
        self.rank, self.size = spec.rank, spec.size
        self._is_gloo = spec.backend == "gloo"
        self._store = spec.store  # kept: a store in Python ends with its last reference
        self._torch_group: distributed.ProcessGroup | None = None
        """Released last: freed by a DDP, it would wait, with Python's lock, for threads that wait
        for the lock."""
        self.traffic = TrafficStats()
        if self.size == 1:
            return
        limit = timedelta(seconds=spec.silence_seconds)
        with self.waiting():
            listen_only_at(spec.address)
            spec.store.set_timeout(limit)
            distributed.init_process_group(
                spec.backend,
                store=PrefixStore(f"group {spec.generation}", spec.store),
                rank=self.rank,
                world_size=self.size,
                timeout=limit,
            )
            self._torch_group = distributed.group.WORLD

    def close(self) -> None:
        """Leave the group, which nothing else may still use; ranks that wait for this one fail."""
        if self.size > 1 and distributed.is_initialized():
            distributed.destroy_process_group()
        self._torch_group = None

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Count the time inside as waiting; turn errors into GroupFailed."""
        begin = time.perf_counter()
        try:
            yield
        except torch.OutOfMemoryError:
            raise
        except RuntimeError as error:
            if isinstance(error.__cause__, torch.OutOfMemoryError):  # torch's pipelines wrap it
                raise error.__cause__ from None
            raise GroupFailed(_reason(error)) from error
        finally:
            self.traffic.blocked += time.perf_counter() - begin

    def all_reduce(self, tensor: Tensor) -> Tensor:
        """Sum a tensor over all ranks, in place."""
        if self.size > 1 and self._is_gloo and tensor.numel() < GATHER_BELOW:
            tensor.copy_(torch.stack(self.all_gather(tensor)).sum(0))
        elif self.size > 1:
            self._wait_for(tensor)
            with self.waiting():
                distributed.all_reduce(tensor)
            self.count_sum(tensor.nbytes)
        return tensor

    def broadcast(self, tensor: Tensor, source: int = ROOT) -> Tensor:
        """Overwrite a tensor with that of rank `source`."""
        if self.size > 1:
            self._wait_for(tensor)
            with self.waiting():
                distributed.broadcast(tensor, source)
            if self.rank == source:
                self.count(sent=tensor.nbytes * (self.size - 1))
            else:
                self.count(received=tensor.nbytes)
        return tensor

    def gather(self, tensor: Tensor) -> list[Tensor]:
        """Return the tensors of all ranks, by rank, at the root; an empty list elsewhere."""
        sent = self._to_backend(tensor)
        found = [torch.empty_like(sent) for _ in range(self.size)] if self.rank == ROOT else []
        with self.waiting():
            distributed.gather(sent, found or None, dst=ROOT)
        if self.rank == ROOT:
            self.count(received=sent.nbytes * (self.size - 1))
        else:
            self.count(sent=sent.nbytes)
        return [other.to(tensor.device) for other in found]

    def all_gather(self, tensor: Tensor) -> list[Tensor]:
        """Return the tensors of all ranks, by rank."""
        if self.size == 1:
            return [tensor]
        sent = self._to_backend(tensor)
        found = [torch.empty_like(sent) for _ in range(self.size)]
        with self.waiting():
            distributed.all_gather(found, sent)
        self.count_all_gather(sent.nbytes)
        return [other.to(tensor.device) for other in found]

    def send(self, tensor: Tensor, rank: int) -> None:
        """Send a tensor to another rank, which must call `receive`."""
        sent = self._to_backend(tensor)
        with self.waiting():
            distributed.send(sent, rank)
        self.count(sent=sent.nbytes)

    def receive(self, tensor: Tensor, rank: int) -> Tensor:
        """Return what another rank sends, with the shape, dtype and device of `tensor`."""
        found = self._to_backend(tensor)
        with self.waiting():
            distributed.recv(found, rank)
        self.count(received=found.nbytes)
        return found.to(tensor.device)

    def send_json(self, rank: int, content: Any) -> None:
        """Send JSON content to another rank, which must call `receive_json`."""
        payload = np.frombuffer(json.dumps(content).encode(), np.uint8).copy()
        self.send(torch.tensor([payload.size]), rank)
        self.send(torch.from_numpy(payload), rank)

    def receive_json(self, rank: int) -> Any:
        """Return the JSON content that another rank sends."""
        length = int(self.receive(torch.zeros(1, dtype=torch.int64), rank))
        payload = self.receive(torch.empty(length, dtype=torch.uint8), rank)
        return json.loads(payload.numpy().tobytes())

    def broadcast_bytes(self, payload: bytes, source: int) -> bytes:
        """Return the bytes that rank `source` has."""
        length = self.broadcast(self._to_backend(torch.tensor([len(payload)])), source)
        held = np.frombuffer(payload or bytes(int(length)), np.uint8).copy()
        content = self.broadcast(self._to_backend(torch.from_numpy(held)), source)
        return content.cpu().numpy().tobytes()

    def count(self, *, sent: int = 0, received: int = 0) -> None:
        """Count bytes of this rank."""
        self.traffic.sent += sent
        self.traffic.received += received

    def count_sum(self, nbytes: int) -> None:
        """Count a sum of `nbytes` over all ranks: its parts go twice around the ring."""
        passed = 2 * nbytes * (self.size - 1) // self.size
        self.count(sent=passed, received=passed)

    def count_all_gather(self, nbytes: int) -> None:
        """Count that every rank gets the `nbytes` of every other rank."""
        passed = nbytes * (self.size - 1)
        self.count(sent=passed, received=passed)

    def _wait_for(self, tensor: Tensor) -> None:
        """Wait until gloo can copy a tensor to the host; this counts as computing."""
        if self._is_gloo and tensor.is_cuda:
            torch.cuda.current_stream(tensor.device).synchronize()

    def memory(self, device: torch.device) -> torch.device:
        """Return where the backend sends and receives the tensors of `device`: gloo in the host."""
        return torch.device("cpu") if self._is_gloo else device

    def _to_backend(self, tensor: Tensor) -> Tensor:
        """Move a tensor to where the backend needs it: host memory for gloo, the GPU for NCCL."""
        return tensor.to("cpu" if self._is_gloo else "cuda")


def listen_only_at(address: str) -> None:
    """Make gloo and NCCL listen on the interface of this machine that has `address`.

    Except on loopback, the user's own environment variables win: they may name a faster network.
    """
    found = psutil.net_if_addrs().items()
    names = [name for name, own in found if address in [each.address for each in own]]
    if not names:
        raise RookeryError(f"no network interface of {socket.gethostname()} has {address}")
    exactly = f"={names[0]}"  # without "=" NCCL would take it as a prefix
    for variable, value in ("GLOO_SOCKET_IFNAME", names[0]), ("NCCL_SOCKET_IFNAME", exactly):
        if address == LOOPBACK:
            os.environ[variable] = value
        else:
            os.environ.setdefault(variable, value)


def _reason(error: RuntimeError) -> str:
    """Return the first non-empty line of the original error."""
    first = error.__cause__ or error
    return next((line for line in str(first).splitlines() if line.strip()), repr(first))


class FlatTensors:
    """Several tensors as one vector, to send them together."""

    def __init__(self, tensors: Iterable[Tensor]) -> None:
        self.tensors = list(tensors)

    def read(self) -> Tensor:
        """Return a copy of all elements in float32."""
        return torch.cat([tensor.detach().reshape(-1).float() for tensor in self.tensors])

    @torch.no_grad()
    def write(self, vector: Tensor) -> None:
        """Set all tensors from a vector."""
        parts = torch.split(vector, [tensor.numel() for tensor in self.tensors])
        for tensor, part in zip(self.tensors, parts, strict=True):
            tensor.copy_(part.view(tensor.shape))
