"""The device of each actor."""

from collections.abc import Iterable, Mapping

from rookery.training.actors.layout import ActorLayout
from rookery.workers import WorkerStats

BUSY_SHARE = 0.9
"""A GPU with this load or more has no room for another actor."""
Place = tuple[str, float]
"""A device, and the share of a GPU that a cluster reserves for the actor."""


class ActorPlaces:
    """Where actors play by the layout and the load, and where they were started."""

    def __init__(self, layout: ActorLayout, *, is_cluster: bool) -> None:
        self._layout, self._is_cluster = layout, is_cluster
        self._chosen: dict[int, str] = {}
        """Devices of actors that the load has asked for."""
        self._started: dict[int, Place] = {}

    def use(self, layout: ActorLayout) -> None:
        """Place all actors by another layout."""
        self._layout, self._chosen = layout, {}

    def place(self, number: int) -> Place:
        """Return where an actor belongs."""
        layout = self._layout
        device = self._chosen.get(number, layout.devices[number % len(layout.devices)])
        is_reserved = self._is_cluster and device != "cpu"
        return device, 1 / layout.sharing if is_reserved else 0.0

    def start(self, number: int) -> Place:
        """Note that an actor starts where it belongs, and return that place."""
        self._started[number] = self.place(number)
        return self._started[number]

    def is_elsewhere(self, number: int) -> bool:
        """Return whether an actor was started where it does not belong."""
        return self._started[number] != self.place(number)

    def choose(self, number: int, stats: Mapping[int, WorkerStats], staying: Iterable[int]) -> bool:
        """Place a new actor on the device with the fewest, then the lowest load.

        Return False if that is busy; on a cluster Ray chooses the GPU.
        """
        staying = set(staying)
        loads = {device: self._loads(device, stats, staying) for device in self._layout.devices}
        device = min(loads, key=lambda device: (len(loads[device]), max(loads[device], default=0)))
        if not self._is_cluster and max(loads[device], default=0) >= BUSY_SHARE:
            return False
        self._chosen[number] = device
        return True

    def _loads(
        self, device: str, stats: Mapping[int, WorkerStats], staying: set[int]
    ) -> list[float]:
        """Return the load of a device as each of its actors reports it; on a GPU 1 if not known."""
        unknown = 0.0 if device == "cpu" else 1.0
        return [
            unknown if each.device_busy is None else each.device_busy
            for number, each in stats.items()
            if self._started[number][0] == device and number in staying
        ]
