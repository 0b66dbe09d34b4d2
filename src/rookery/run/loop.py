"""The loop of a run: turn the ring until it is done, on the CPU, on a GPU, or with a crew."""

from rookery.run.config import Config
from rookery.run.crewed import CrewedRing
from rookery.run.device import DeviceRing
from rookery.run.folder import RunFolder
from rookery.run.host import HostRing
from rookery.run.moment import Moment, Stopped, Watcher
from rookery.run.ring import Ring
from rookery.runtime import find_device


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


def _ring_for(config: Config) -> type[Ring]:
    if config.run.count_actors():
        return CrewedRing
    return HostRing if find_device(config.run.devices).type == "cpu" else DeviceRing
