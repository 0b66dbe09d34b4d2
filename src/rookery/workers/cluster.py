"""Workers on the machines of a Ray cluster.

Ray finds each worker a machine with room, carries the messages, notices machines that are gone
and ends the workers of a coordinator that is gone. The crew does the rest, as with processes of
one machine: limits, pauses, replacing, dropping. So Ray is told to restart nobody, and a worker
for whom it has no room yet just waits.
"""

import os
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from types import MappingProxyType
from typing import Any

from rookery.workers.channel import Channel, Message, WorkerFunction, drain
from rookery.workers.cluster_store import KeyValues
from rookery.workers.failure import explain_failure
from rookery.workers.mailbox import Fetched, Mailbox
from rookery.workers.ray_session import connect, import_ray, in_short

FETCH_SECONDS = 1.0
"""A worker that has nothing to say answers after so long."""
ORPHAN_SECONDS = 30.0
"""A worker that nobody asks for so long is cut off from its coordinator, and ends."""
UNAVAILABLE_SECONDS = 0.2
"""Between two calls over a connection that is broken."""
NEVER_RAN = "The actor never ran"
"""What Ray says of one whose machine was gone before it was there."""
LARGE = 100_000
"""Bytes from which a message that goes to many workers is stored once for all."""


@dataclass(frozen=True)
class Capacity:
    """What the living machines of a cluster have, busy or not."""

    machines: int
    cpus: int
    gpus: int


class Cluster:
    """A connection to a Ray cluster, and the workers that were started over it."""

    def __init__(self, address: str) -> None:
        """`address`: HOST:PORT; `auto`: the Ray of this machine; `local`: a Ray for us alone."""
        self._ray = import_ray()
        connect(address)
        self._hosts = self._ray.remote(Host)
        self._workers: list[ClusterWorker] = []
        self._stored: tuple[Message, Any] | None = None
        self._stores: dict[str, Any] = {}

    def start_store(self) -> str:
        """Start a store for `ClusterStore`, on this machine; return its name."""
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
        """End a store that was started."""
        self._ray.kill(self._stores.pop(name))

    def capacity(self) -> Capacity:
        """What there is now; machines come and go."""
        found = [node["Resources"] for node in self._ray.nodes() if node["Alive"]]
        cpus, gpus = (int(sum(each.get(kind, 0) for each in found)) for kind in ("CPU", "GPU"))
        return Capacity(len(found), cpus, gpus)

    def start(
        self,
        name: str,
        role: WorkerFunction,
        job: Mapping[str, Any],
        *,
        threads: int = 1,
        gpus: float = 0.0,
        environment: Mapping[str, str] = MappingProxyType({}),
    ) -> "ClusterWorker":
        """A worker on a machine that has so many CPUs and GPUs left, as soon as there is one.

        `environment` are variables that its libraries read when they are imported.
        """
        host = self._hosts.options(
            num_cpus=threads,
            num_gpus=gpus,
            scheduling_strategy="SPREAD",
            runtime_env={"env_vars": dict(environment)},
            max_concurrency=4,  # a call that waits for messages holds up no other
            max_restarts=0,
        )
        worker = ClusterWorker(name, partial(host.remote, role, dict(job)), self.pack)
        self._workers = [each for each in self._workers if each.is_read()] + [worker]
        return worker

    def pack(self, message: Message) -> Any:
        """A message as it travels: a large one that goes to many goes once to each machine."""
        if self._stored is not None and self._stored[0] is message:
            return self._stored[1]
        payload = message.pack()
        if len(payload) < LARGE:
            return payload
        self._stored = message, self._ray.put(payload)
        return self._stored[1]

    def close(self) -> None:
        """End all workers, and the Ray that was started for us alone."""
        for worker in self._workers:
            worker.kill()
        for worker in self._workers:
            worker.wait()
        self._ray.shutdown()


class ClusterWorker:
    """A Ray actor that plays a role, as its coordinator sees it."""

    def __init__(
        self, name: str, create: Callable[[], Any], pack: Callable[[Message], Any]
    ) -> None:
        """`create` has Ray find it a place; `pack` makes a message what Ray carries."""
        self.name = name
        self._ray, self._create, self._pack = import_ray(), create, pack
        self._host = create()
        self._inbox: SimpleQueue[Message] = SimpleQueue()
        self._sent = 0
        self._under_way: dict[Any, tuple[int, Any]] = {}
        self._has_place, self._is_killed = False, False
        self._death = ""
        self._reader = threading.Thread(target=self._read, name=f"read {name}", daemon=True)
        self._reader.start()

    def received(self) -> list[Message]:
        """The whole messages that have come since the last call."""
        return drain(self._inbox)

    def send(self, message: Message) -> None:
        """Tell the worker, without waiting; one that is gone does not hear it."""
        self._deliver(self._sent, self._pack(message))
        self._sent += 1

    def is_waiting(self) -> bool:
        """Whether no machine has had room for it so far."""
        return not (self._has_place or self._death)

    def death(self) -> str:
        """How it ended, or an empty text while it lives; what it had sent is still to be read."""
        return self._death if self._inbox.empty() else ""

    def kill(self) -> None:
        """Have it ended at once, even if it hangs or cannot be reached now."""
        self._is_killed = True
        self._ray.kill(self._host)

    def is_read(self) -> bool:
        """Whether somebody still listens to it."""
        return self._reader.is_alive()

    def wait(self) -> None:
        """Until nobody listens to a worker that was killed."""
        self._reader.join(2 * FETCH_SECONDS)

    def _read(self) -> None:
        """Ask for messages again and again, until the worker or the wish for it ends."""
        arrived, exceptions = 0, self._ray.exceptions
        while not (self._death or self._is_killed):
            try:
                fetched = self._answer(self._host.fetch.remote(arrived))
            except exceptions.ActorUnavailableError:
                time.sleep(UNAVAILABLE_SECONDS)
                continue
            except exceptions.RayError as error:
                self._bury(str(error))
                continue
            self._has_place = True
            for payload in fetched.payloads:
                self._inbox.put(Message.unpack(payload))
            arrived += len(fetched.payloads)
            self._death = fetched.end

    def _answer(self, reply: Any) -> Fetched:
        """What the worker answers, however long that takes; nothing once it was killed."""
        while not self._ray.wait([reply], timeout=FETCH_SECONDS)[0]:
            if self._is_killed:
                return Fetched([], "killed")
        self._deliver_again()
        answer: Fetched = self._ray.get(reply)
        return answer

    def _bury(self, explanation: str) -> None:
        """It is gone, unless only the place that it was to have is."""
        if NEVER_RAN not in explanation or self._is_killed:
            self._death = f"lost: {in_short(explanation)}"
            return
        self._host = self._create()
        if self._is_killed:  # in the meantime, and that was meant for this one
            self._ray.kill(self._host)

    def _deliver(self, number: int, parcel: Any) -> None:
        self._under_way[self._host.deliver.remote(number, parcel)] = number, parcel

    def _deliver_again(self) -> None:
        """Repeat what a broken connection may have swallowed; the worker takes nothing twice."""
        for reply in list(self._under_way):
            if self._ray.wait([reply], timeout=0)[0]:
                number, parcel = self._under_way.pop(reply)
                try:
                    self._ray.get(reply)
                except self._ray.exceptions.RayError:
                    self._deliver(number, parcel)


class Host:
    """What Ray runs on a machine of the cluster: a process in which a thread plays a role."""

    def __init__(self, role: WorkerFunction, job: Mapping[str, Any]) -> None:
        self._mailbox = Mailbox()
        threading.Thread(target=_play, args=(self._mailbox, role, job), daemon=True).start()
        threading.Thread(target=_watch, args=(self._mailbox,), daemon=True).start()

    def deliver(self, number: int, payload: bytes) -> None:
        """The coordinator's message `number`."""
        self._mailbox.deliver(number, payload)

    def fetch(self, arrived: int) -> Fetched:
        """The role's messages but the first `arrived`."""
        return self._mailbox.fetch(arrived, FETCH_SECONDS)


def _play(mailbox: Mailbox, role: WorkerFunction, job: Mapping[str, Any]) -> None:
    """Play the role to its end, and say why where that fails."""
    link = Channel(mailbox)
    try:
        role(link, job)
        mailbox.end("ended")
    except Exception as error:
        link.send(Message("failed", {"reason": explain_failure(error)}))
        mailbox.end("failed")


def _watch(mailbox: Mailbox) -> None:
    """End this process once its coordinator no longer calls."""
    while mailbox.seconds_since_call() < ORPHAN_SECONDS:
        time.sleep(1.0)
    os._exit(0)
