"""Workers on the machines of a Ray cluster.

Ray finds a machine for each worker, carries the messages, detects machines that have gone, and ends
the workers of a coordinator that has gone. Restarts are up to the worker pool, as with processes of
one machine, so Ray is told to restart nothing. A worker waits until a machine has resources for it.
"""

import os
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

from rookery.base import PLUGINS
from rookery.workers.channel import HEARTBEAT_SECONDS, Job, WorkerFunction
from rookery.workers.cluster_host import FETCH_SECONDS, Fetched, Host
from rookery.workers.cluster_store import KeyValues
from rookery.workers.messages import Message, MessageDamaged, pack, unpack
from rookery.workers.pool import Worker
from rookery.workers.ray_session import connect, import_ray, summarize

UNAVAILABLE_SECONDS = 0.2
"""Between two calls over a broken connection."""
NEVER_RAN = "The actor never ran"
"""Ray's words for an actor whose machine was lost before the actor was started."""
LARGE = 100_000
"""Bytes from which a message to many workers is stored once for all of them."""


@dataclass(frozen=True)
class Capacity:
    """The resources of the machines of a cluster, in use or not."""

    machines: int
    cpus: int
    gpus: int


class Cluster:
    """A connection to a Ray cluster, and the workers that were started through it."""

    def __init__(self, address: str) -> None:
        """Connect to HOST:PORT, to this machine's Ray (`auto`), or start a Ray (`local`)."""
        self._ray = import_ray()
        connect(address)
        self._hosts = self._ray.remote(Host)
        self._workers: list[ClusterWorker] = []
        self._stored: tuple[Message, Any] | None = None
        self._stores: dict[str, Any] = {}

    def start_store(self) -> str:
        """Start a store of keys and values on this machine; return its name."""
        name = f"store {secrets.token_hex(16)}"
        here = self._ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(
            self._ray.get_runtime_context().get_node_id(), soft=False
        )
        actor = self._ray.remote(KeyValues).options(
            name=name, num_cpus=0, scheduling_strategy=here, max_restarts=0
        )
        self._stores[name] = actor.remote()
        return name

    def end_store(self, name: str) -> None:
        """End a store."""
        self._ray.kill(self._stores.pop(name))

    def capacity(self) -> Capacity:
        """Return the resources of the machines that are connected now."""
        found = [node["Resources"] for node in self._ray.nodes() if node["Alive"]]
        cpus, gpus = (int(sum(each.get(kind, 0) for each in found)) for kind in ("CPU", "GPU"))
        return Capacity(len(found), cpus, gpus)

    def start(
        self,
        name: str,
        function: WorkerFunction[Job],
        job: Job,
        *,
        threads: int = 1,
        gpus: float = 0.0,
        environment: Mapping[str, str] = MappingProxyType({}),
        heartbeat_seconds: float = HEARTBEAT_SECONDS,
    ) -> "ClusterWorker":
        """Start a worker on a machine with `threads` free CPUs and `gpus`, as soon as there is one.

        `environment` holds variables that libraries read when the worker imports them.
        """
        host = self._hosts.options(
            num_cpus=threads,
            num_gpus=gpus,
            scheduling_strategy="SPREAD",
            runtime_env={"env_vars": {PLUGINS: os.environ.get(PLUGINS, ""), **environment}},
            max_concurrency=4,  # a call that waits for messages does not block the others
            max_restarts=0,
        )
        worker = ClusterWorker(
            name, partial(host.remote, function, job, heartbeat_seconds), self.pack
        )
        self._workers = [each for each in self._workers if each.is_reading()] + [worker]
        return worker

    def pack(self, message: Message) -> Any:
        """Return a message for Ray; a large one to many workers is sent once to each machine."""
        if self._stored is not None and self._stored[0] is message:
            return self._stored[1]
        payload = pack(message)
        if len(payload) < LARGE:
            return payload
        self._stored = message, self._ray.put(payload)
        return self._stored[1]

    def close(self) -> None:
        """End all workers, and a private Ray."""
        for worker in self._workers:
            worker.kill()
        for worker in self._workers:
            worker.wait()
        self._ray.shutdown()


class ClusterWorker(Worker):
    """A worker in a Ray actor, as its coordinator sees it."""

    def __init__(
        self, name: str, create: Callable[[], Any], pack: Callable[[Message], Any]
    ) -> None:
        """`create` asks Ray for an actor; `pack` turns a message into what Ray carries."""
        super().__init__(name)
        self._ray, self._create, self._pack = import_ray(), create, pack
        self._host = create()
        self._num_sent = 0
        self._deliveries: dict[Any, tuple[int, Any]] = {}
        self._is_placed, self._is_killed = False, False
        self._death = ""
        self._reader.start()

    def send(self, message: Message) -> None:
        self._deliver(self._num_sent, self._pack(message))
        self._num_sent += 1

    def is_queued(self) -> bool:
        return not (self._is_placed or self._death)

    def death(self) -> str:
        return self._death if self._inbox.empty() else ""

    def kill(self) -> None:
        self._is_killed = True
        self._ray.kill(self._host)

    def is_reading(self) -> bool:
        """Return whether the thread that reads its messages still runs."""
        return self._reader.is_alive()

    def wait(self) -> None:
        """Wait until the messages of a killed worker are no longer read."""
        self._reader.join(2 * FETCH_SECONDS)

    def _read(self) -> None:
        num_arrived, exceptions = 0, self._ray.exceptions
        while not (self._death or self._is_killed):
            try:
                fetched = self._answer(self._host.fetch.remote(num_arrived))
                self._is_placed = True
                for payload in fetched.payloads:
                    self._inbox.put(unpack(payload))
            except exceptions.ActorUnavailableError:
                time.sleep(UNAVAILABLE_SECONDS)
            except exceptions.RayError as error:
                self._handle_loss(str(error))
            except MessageDamaged as error:
                self._death = f"sent bytes that cannot be read: {error}"
            else:
                num_arrived += len(fetched.payloads)
                self._death = fetched.end

    def _answer(self, reply: Any) -> Fetched:
        """Wait for the answer to a call, however long it takes; stop if the worker is killed."""
        while not self._ray.wait([reply], timeout=FETCH_SECONDS)[0]:
            if self._is_killed:
                return Fetched([], "was killed")
        self._repeat_lost_deliveries()
        answer: Fetched = self._ray.get(reply)
        return answer

    def _handle_loss(self, explanation: str) -> None:
        """Note that the worker was lost, or ask for another machine if it never ran."""
        if NEVER_RAN not in explanation or self._is_killed:
            self._death = f"was lost: {summarize(explanation)}"
            return
        self._host = self._create()
        if self._is_killed:  # in the meantime, so kill() ended the wrong actor
            self._ray.kill(self._host)

    def _deliver(self, number: int, payload: Any) -> None:
        self._deliveries[self._host.deliver.remote(number, payload)] = number, payload

    def _repeat_lost_deliveries(self) -> None:
        """Repeat deliveries that a broken connection may have lost; the worker ignores copies."""
        for reply in list(self._deliveries):
            if self._ray.wait([reply], timeout=0)[0]:
                number, payload = self._deliveries.pop(reply)
                try:
                    self._ray.get(reply)
                except self._ray.exceptions.RayError:
                    self._deliver(number, payload)
