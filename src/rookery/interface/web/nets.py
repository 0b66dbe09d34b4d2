"""The networks that searches use, loaded once and shared by all users.

A position that any search has evaluated is not evaluated again while it is remembered: the search
for a reply revisits most of what the search before it saw, and users who open alike share it.
"""

import threading
from collections import OrderedDict
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from rookery.api import Net, NetRef, read_net
from rookery.base import ConfigError
from rookery.gpu import find_device
from rookery.interface.web.catalogue import Catalogue
from rookery.interface.web.evaluations import Evaluations
from rookery.interface.web.players import Choice
from rookery.nets import MEASURED_ROWS, best_seconds, is_int8_supported
from rookery.search import Evaluator

MAX_NETS = 6
REMEMBERED_BYTES = 48 * 2**20
"""Memory of one network's evaluations."""
OVERHEAD_BYTES = 400
"""Of one entry, besides its arrays: keys, objects, the dictionary."""
FEW, SHORT = 8, 0.02
"""Positions of a call, and seconds of calls, that measure a network."""
Floats = NDArray[np.float32]


class Nets:
    """Networks by player; those that have not been used for longest are dropped."""

    def __init__(self, catalogue: Catalogue, *, devices: str = "cpu") -> None:
        self._catalogue, self._devices = catalogue, devices
        self._evaluations = Evaluations()
        self._nets: OrderedDict[tuple[str, int | None], Net] = OrderedDict()
        self._lock = threading.Lock()

    def close(self) -> None:
        """End the threads that evaluate."""
        self._evaluations.close()

    def find(self, choice: Choice) -> Net | None:
        """Return the network of a player if it is loaded."""
        return self._nets.get(_key(choice))

    def load(self, choice: Choice) -> Net:
        """Return the network of a player; loading one takes seconds."""
        key = _key(choice)
        with self._lock:
            if key in self._nets:
                self._nets.move_to_end(key)
                return self._nets[key]
            net = self._nets[key] = self._read(choice)
            while len(self._nets) > MAX_NETS:
                self._nets.popitem(last=False)
            return net

    def _read(self, choice: Choice) -> Net:
        ref = read_net(
            choice.name, iteration=_key(choice)[1], trust_rules=self._catalogue.trust_rules
        )
        if ref is None:
            raise ConfigError(f"{choice.label} has no network")
        torch.set_num_threads(1)  # as where the network is evaluated
        net = _fastest(ref, self._devices)
        assert net.leaves  # measured before evaluations are remembered
        net.evaluator = Remembering(self._evaluations.shared(net.evaluator))
        return net


def _fastest(ref: NetRef, devices: str) -> Net:
    """Return the network in float32, or in 8 bits where those are possible and faster.

    The measurement of `auto` would disturb the searches of others for seconds.
    """
    plain = Net(replace(ref, inference="float32"), devices=devices)
    is_on_cpu = devices == "cpu" or (devices == "auto" and find_device(devices).type == "cpu")
    if not is_on_cpu or not is_int8_supported() or ref.partners:
        return plain
    short = Net(replace(ref, inference="int8"), devices=devices)
    boards = ref.game.planes(ref.game.random_states(MEASURED_ROWS, seed=0))
    try:
        short.evaluator(boards)  # its scales fit these boards
    except ConfigError:  # not a residual network
        return plain
    return min(
        (plain, short), key=lambda net: best_seconds(lambda: net.evaluator(boards[:FEW]), SHORT)
    )


def _key(choice: Choice) -> tuple[str, int | None]:
    """Return the name and the iteration: that of the newest network changes while a run trains."""
    newest = choice.iterations[-1] if choice.iterations else None
    return choice.name, newest if choice.iteration is None else choice.iteration


class Remembering:
    """An evaluator that remembers positions; any thread may call it."""

    def __init__(self, evaluator: Evaluator, max_bytes: int = REMEMBERED_BYTES) -> None:
        self._evaluator, self._max_bytes = evaluator, max_bytes
        self._known: OrderedDict[bytes, tuple[Floats, Floats]] = OrderedDict()
        self._lock = threading.Lock()
        self.hits = 0
        self.misses = 0

    def __call__(self, planes: Floats) -> tuple[Floats, Floats]:
        """Return logits [B, A] and win-draw-loss probabilities [B, 3] of planes [B, P, H, W]."""
        keys = [row.tobytes() for row in planes]
        with self._lock:
            found = {key: self._known[key] for key in keys if key in self._known}
        missing = [index for index, key in enumerate(keys) if key not in found]
        if missing:
            logits, wdl = self._evaluator(np.ascontiguousarray(planes[missing]))
            for row, index in enumerate(missing):
                found[keys[index]] = logits[row].copy(), wdl[row].copy()
        self._keep(keys, found, len(missing))
        answers = [found[key] for key in keys]
        return np.stack([each[0] for each in answers]), np.stack([each[1] for each in answers])

    def _keep(
        self, keys: list[bytes], found: dict[bytes, tuple[Floats, Floats]], missing: int
    ) -> None:
        logits, wdl = found[keys[0]]
        size = len(keys[0]) + logits.nbytes + wdl.nbytes + OVERHEAD_BYTES
        with self._lock:
            self.hits, self.misses = self.hits + len(keys) - missing, self.misses + missing
            for key in keys:
                self._known[key] = found[key]
                self._known.move_to_end(key)
            while len(self._known) * size > self._max_bytes:
                self._known.popitem(last=False)
