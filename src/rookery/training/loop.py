"""The loop of a run: turn the ring until it is done, on the CPU, on a GPU, or with a crew."""

import torch

from rookery.base import UnknownName
from rookery.gpu import find_devices
from rookery.nets import CPU_BACKENDS, GPU_BACKENDS, check_backend
from rookery.training.config import Config
from rookery.training.crewed import CrewedRing
from rookery.training.device import DeviceRing
from rookery.training.host import HostRing
from rookery.training.learners import check_trainers
from rookery.training.progress import Progress, ProgressCallback, Stopped
from rookery.training.ring import Ring
from rookery.training.store.folder import RunFolder


def train(folder: RunFolder, watch: ProgressCallback) -> Progress:
    """Train until the run's time or iterations are over, or `watch` raises Stopped."""
    with folder.lock():
        ring = _ring_for(folder.config)(folder, watch)
        try:
            while ring.progress() < 1.0:
                ring.turn()
            ring.finish()
        except Stopped:
            ring.stop()
        finally:
            ring.close()
        return ring.moment


def check_hardware(config: Config) -> torch.device:
    """The device that learns, or an error that names what does not fit together."""
    devices = find_devices(config.run.devices)
    check_trainers(config, devices)
    device = devices[0]
    known = CPU_BACKENDS if device.type == "cpu" else tuple(GPU_BACKENDS)
    if config.run.inference not in ("auto", *known):
        raise UnknownName(f"run.inference on {device}", config.run.inference, ("auto", *known))
    check_backend(config.run.inference, config.net)
    return device


def _ring_for(config: Config) -> type[Ring]:
    on_gpu = find_devices(config.run.devices)[0].type == "cuda"
    if config.run.has_actors() or (on_gpu and config.learning.method != "single"):
        return CrewedRing
    return HostRing if not on_gpu else DeviceRing
