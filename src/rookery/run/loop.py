"""The loop of a run: turn the ring until it is done, on the CPU, on a GPU, or with a crew."""

import torch

from rookery.base import UnknownName
from rookery.nets import CUDA_METHODS, METHODS, check_method
from rookery.run.config import Config
from rookery.run.crewed import CrewedRing
from rookery.run.device import DeviceRing
from rookery.run.folder import RunFolder
from rookery.run.host import HostRing
from rookery.run.learners import check_trainers
from rookery.run.moment import Moment, Stopped, Watcher
from rookery.run.ring import Ring
from rookery.runtime import find_devices


def train(folder: RunFolder, watch: Watcher) -> Moment:
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


def check_place(config: Config) -> torch.device:
    """The device that learns, or an error that names what does not fit together."""
    devices = find_devices(config.run.devices)
    check_trainers(config, devices)
    device = devices[0]
    known = METHODS if device.type == "cpu" else tuple(CUDA_METHODS)
    if config.run.inference not in ("auto", *known):
        raise UnknownName(f"run.inference on {device}", config.run.inference, ("auto", *known))
    check_method(config.run.inference, config.net)
    return device


def _ring_for(config: Config) -> type[Ring]:
    on_gpu = find_devices(config.run.devices)[0].type == "cuda"
    if config.run.has_crew() or (on_gpu and config.learning.method != "single"):
        return CrewedRing
    return HostRing if not on_gpu else DeviceRing
