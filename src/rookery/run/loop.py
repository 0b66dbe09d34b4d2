"""The loop of a run: turn the ring until it is done, on the CPU or on a GPU."""

from rookery.run.device import DeviceRing
from rookery.run.folder import RunFolder
from rookery.run.host import HostRing
from rookery.run.moment import Moment, Stopped, Watcher
from rookery.run.ring import Ring
from rookery.runtime import find_device


def train(folder: RunFolder, watch: Watcher) -> Moment:
    """Train until the run's time or iterations are over, or `watch` raises Stopped."""
    is_cpu = find_device(folder.config.run.devices).type == "cpu"
    with folder.lock():
        ring: Ring = HostRing(folder, watch) if is_cpu else DeviceRing(folder, watch)
        try:
            while ring.progress() < 1.0:
                ring.turn()
            ring.finish()
        except Stopped:
            ring.stop()
        return ring.moment
