"""Where actors play: how many there are, on which devices, with how many threads."""

from dataclasses import dataclass

from rookery.base import available_cores
from rookery.gpu import find_devices
from rookery.training.config import RunConfig
from rookery.workers import Cluster

MAX_PER_GPU = 2
"""Actors per GPU that the load may ask for: one prepares its next wave while the other computes."""


@dataclass(frozen=True)
class ActorLayout:
    """How many actors there are, and what each one has."""

    size: int
    max_size: int
    """Actors that the load may ask for."""
    follows: bool
    """Whether the number follows the load; otherwise it was asked for."""
    devices: tuple[str, ...]
    """Actor n plays on device n modulo their number."""
    sharing: int
    """Actors that share a device and its games."""
    threads: int
    """CPU threads of each actor."""


def actor_layout(run: RunConfig, cluster: Cluster | None) -> ActorLayout:
    """Return where actors play, by the settings and the hardware.

    On one machine the games of a device are divided among its actors; in a cluster every actor has
    games of its own.
    """
    asked = requested_actors(run)
    if cluster is not None:
        return _layout_on(cluster, asked)
    devices, cores = tuple(map(str, find_devices(run.devices))), available_cores()
    if run.actors == "auto" and devices == ("cpu",):
        size = max(1, cores // 2)
        return ActorLayout(size, cores, True, devices, sharing=size, threads=1)
    size, follows = asked or len(devices), run.actors == "auto"
    max_size = max(size, min(MAX_PER_GPU * size, cores)) if follows else size
    sharing, threads = -(-size // len(devices)), max(1, cores // size)
    return ActorLayout(size, max_size, follows, devices, sharing=sharing, threads=threads)


def requested_actors(run: RunConfig) -> int:
    """Return the number of actors that the settings ask for, 0 if they leave it open."""
    return int(run.actors) if run.actors.isdecimal() else 0


def _layout_on(cluster: Cluster, asked: int) -> ActorLayout:
    """Return one actor per GPU; without GPUs one per core, except for the learner's.

    That is also the most that the load may ask for: others would wait for free resources.
    """
    capacity = cluster.capacity()
    size = asked or capacity.gpus or max(1, capacity.cpus - 1)
    sharing = -(-size // capacity.gpus) if capacity.gpus else 1
    device = "cuda:0" if capacity.gpus else "cpu"
    return ActorLayout(size, size, not asked, (device,), sharing=sharing, threads=1)
