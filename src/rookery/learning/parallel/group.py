"""A group: the ranks that learn together for as long as none of them is lost.

Every word to the others goes through here, so that time spent waiting and bytes sent are counted,
and whatever goes wrong on the way ends in the same error: the group is broken. A group is never
mended; its members form a new one.

The backends open ports: on the interface of the address that a member was given, and on no other.
Members exchange tensors and JSON, never pickles, which would run whatever code a stranger sends.
"""

import json
import os
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import numpy as np
import psutil
import torch
from torch import Tensor, distributed
from torch.distributed import PrefixStore, Store  # type: ignore[attr-defined]

from rookery.base import RookeryError

FEW = 4096
"""Numbers below which gloo gathers and we add: its own sum takes three times as long to begin."""
LOOPBACK = "127.0.0.1"
ROOT = 0
"""The rank that gathers, serves and reports."""


class GroupFailed(RookeryError):
    """A member is gone, or too slow to answer."""


@dataclass(frozen=True)
class RankSpec:
    """Where to meet, and as whom."""

    store: Store
    """Where members learn each other's addresses; all members have the same, and nobody else."""
    generation: int
    """Groups that meet in the same store have different ones."""
    rank: int
    size: int
    address: str = LOOPBACK
    """The address of this machine at which the other members reach it."""
    backend: str = "gloo"
    patience: float = 10.0
    """Seconds that a member may keep the others waiting."""


@dataclass
class TrafficStats:
    """What a rank had to do with the others."""

    blocked: float = 0.0
    """Seconds in which it could only wait."""
    sent: int = 0
    """Bytes it handed over."""


class ProcessGroup:
    """This process as a member; made by all members at once."""

    def __init__(self, place: RankSpec) -> None:
        self.rank, self.size = place.rank, place.size
        self._is_gloo = place.backend == "gloo"
        self._store = place.store  # kept: one in Python is gone when nobody refers to it
        self.traffic = TrafficStats()
        if self.size == 1:
            return
        limit = timedelta(seconds=place.patience)
        with self.speaking():
            listen_only_at(place.address)
            place.store.set_timeout(limit)
            distributed.init_process_group(
                place.backend,
                store=PrefixStore(f"group {place.generation}", place.store),
                rank=self.rank,
                world_size=self.size,
                timeout=limit,
            )

    def close(self) -> None:
        """Leave; whoever still waits for this rank hears that it is gone."""
        if self.size > 1 and distributed.is_initialized():
            distributed.destroy_process_group()

    @contextmanager
    def speaking(self) -> Iterator[None]:
        """Count the time inside as spent waiting; what goes wrong there breaks the group."""
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

    def sum(self, tensor: Tensor) -> Tensor:
        """The sum over all ranks, in place."""
        if self.size > 1 and self._is_gloo and tensor.numel() < FEW:
            tensor.copy_(torch.stack(self.collect(tensor)).sum(0))
        elif self.size > 1:
            with self.speaking():
                distributed.all_reduce(tensor)
            self.count(tensor)
        return tensor

    def spread(self, tensor: Tensor, source: int = ROOT) -> Tensor:
        """The tensor of rank `source`, in place."""
        if self.size > 1:
            with self.speaking():
                distributed.broadcast(tensor, source)
            self.count(tensor)
        return tensor

    def gather(self, tensor: Tensor) -> list[Tensor]:
        """The tensors of all ranks, by rank, at the root; elsewhere none."""
        sent = self._fit(tensor)
        found = [torch.empty_like(sent) for _ in range(self.size)] if self.rank == ROOT else []
        with self.speaking():
            distributed.gather(sent, found or None, dst=ROOT)
        self.count(sent)
        return [other.to(tensor.device) for other in found]

    def collect(self, tensor: Tensor) -> list[Tensor]:
        """The tensors of all ranks, by rank, everywhere."""
        if self.size == 1:
            return [tensor]
        sent = self._fit(tensor)
        found = [torch.empty_like(sent) for _ in range(self.size)]
        with self.speaking():
            distributed.all_gather(found, sent)
        self.count(sent)
        return [other.to(tensor.device) for other in found]

    def send(self, tensor: Tensor, rank: int) -> None:
        """Hand a tensor to another rank, which has to receive it."""
        sent = self._fit(tensor)
        with self.speaking():
            distributed.send(sent, rank)
        self.count(sent)

    def receive(self, tensor: Tensor, rank: int) -> Tensor:
        """What another rank sends, shaped like `tensor`, on its device."""
        found = self._fit(tensor)
        with self.speaking():
            distributed.recv(found, rank)
        return found.to(tensor.device)

    def tell(self, rank: int, words: Any) -> None:
        """Send something that JSON can express to another rank, which has to hear it."""
        payload = np.frombuffer(json.dumps(words).encode(), np.uint8).copy()
        self.send(torch.tensor([payload.size]), rank)
        self.send(torch.from_numpy(payload), rank)

    def hear(self, rank: int) -> Any:
        """What another rank tells."""
        length = int(self.receive(torch.zeros(1, dtype=torch.int64), rank))
        payload = self.receive(torch.empty(length, dtype=torch.uint8), rank)
        return json.loads(payload.numpy().tobytes())

    def spread_bytes(self, payload: bytes, source: int) -> bytes:
        """The bytes that rank `source` has."""
        length = self.spread(self._fit(torch.tensor([len(payload)])), source)
        held = np.frombuffer(payload or bytes(int(length)), np.uint8).copy()
        return self.spread(self._fit(torch.from_numpy(held)), source).cpu().numpy().tobytes()

    def _fit(self, tensor: Tensor) -> Tensor:
        """The tensor where the backend can fetch it: gloo gathers from the host, NCCL never."""
        return tensor.to(self._wire())

    def _wire(self) -> torch.device:
        return torch.device("cpu" if self._is_gloo else "cuda")

    def count(self, tensor: Tensor) -> None:
        """Enter a tensor that was handed over."""
        self.traffic.sent += tensor.nbytes


def listen_only_at(address: str) -> None:
    """Have gloo and NCCL listen on the interface that has `address`, one of this machine.

    On a network, what the user has set for them is kept: it may be the faster one.
    """
    names = [
        name
        for name, addresses in psutil.net_if_addrs().items()
        if any(found.address == address for found in addresses)
    ]
    if not names:
        raise RookeryError(f"no network interface of {socket.gethostname()} has {address}")
    for variable, value in (
        ("GLOO_SOCKET_IFNAME", names[0]),
        ("NCCL_SOCKET_IFNAME", f"={names[0]}"),  # all that begin with the name, without "="
    ):
        if address == LOOPBACK:
            os.environ[variable] = value
        else:
            os.environ.setdefault(variable, value)


def _reason(error: RuntimeError) -> str:
    """The first line that says something, of the error that began it."""
    first = error.__cause__ or error
    return next((line for line in str(first).splitlines() if line.strip()), repr(first))


@dataclass
class FlatTensors:
    """Several tensors as one vector, so that they travel together."""

    tensors: Sequence[Tensor]
    sizes: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.sizes = [tensor.numel() for tensor in self.tensors]

    def read(self) -> Tensor:
        """All their numbers, copied, in float32."""
        return torch.cat([tensor.detach().reshape(-1).float() for tensor in self.tensors])

    @torch.no_grad()
    def write(self, vector: Tensor) -> None:
        """Set them all."""
        for tensor, part in zip(self.tensors, torch.split(vector, self.sizes), strict=True):
            tensor.copy_(part.view(tensor.shape))
