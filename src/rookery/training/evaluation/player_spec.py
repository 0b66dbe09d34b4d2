"""Descriptions of players from which any process can create them."""

from dataclasses import dataclass, field, replace
from functools import lru_cache

from rookery.arena import Player, SearchPlayer, named_player
from rookery.games import Game
from rookery.gpu import find_device, use_device
from rookery.nets import CpuEvaluator, Ensemble, GpuEvaluator, unpack
from rookery.search import SearchConfig
from rookery.training.parts import backends_on, fallback_notes

EVALUATORS = 4
"""Evaluators that a process keeps: creating one takes seconds if its backend is measured."""
BATCH_SIZE = 256


@dataclass(frozen=True)
class PlayerSpec:
    """Everything that a player is created from; fields that its kind does not use have defaults."""

    kind: str
    """plain or net."""
    name: str = ""
    """plain: the argument of `arena.named_player`; net: its name in reports."""
    simulations: int = 0
    """net: simulations per move; 0 = the network alone."""
    search: SearchConfig = field(default_factory=SearchConfig)
    """net: settings of the search."""
    weights: bytes = field(default=b"", repr=False)
    """net: the content of its weights file."""
    partners: tuple[bytes, ...] = field(default=(), repr=False)
    """net: the weights files of the networks whose evaluations are averaged with its own."""
    inference: str = "auto"
    """net: the backend that evaluates it; one that its device does not have counts as auto."""
    devices: str = "cpu"
    """net: the device that evaluates it."""
    batch_size: int = BATCH_SIZE
    """net: maximum positions per evaluation, except on an NVIDIA GPU; `auto` measures with it."""

    def player(self, game: Game, *, seed: int) -> Player:
        """Return a new player."""
        if self.kind == "plain":
            return named_player(self.name, game, seed=seed)
        return SearchPlayer(
            game,
            self.evaluator(),
            config=self.search,
            simulations=self.simulations,
            seed=seed,
            name=self.name,
        )

    def evaluator(self) -> CpuEvaluator | GpuEvaluator:
        """Return the evaluator of its network, the same one for every call in a process."""
        files = (self.weights, *self.partners)
        return _evaluator(files, self.inference, self.devices, self.batch_size)

    def is_on_gpu(self) -> bool:
        """Return whether a GPU evaluates its network."""
        return self.kind == "net" and find_device(self.devices).type != "cpu"

    def resolve(self, game: Game) -> "PlayerSpec":
        """Return the spec with device and backend chosen; raise an error if it cannot play."""
        self.player(game, seed=0)
        if self.kind != "net":
            return self
        device = str(find_device(self.devices))
        return replace(self, inference=self.evaluator().backend, devices=device)

    def notes(self) -> list[str]:
        """Return notes for the user on how its network is evaluated."""
        return fallback_notes(self.evaluator()) if self.kind == "net" else []


@lru_cache(maxsize=EVALUATORS)
def _evaluator(
    files: tuple[bytes, ...], inference: str, devices: str, batch_size: int
) -> CpuEvaluator | GpuEvaluator:
    """Return the evaluator of a network, or of the ensemble of several networks of one game.

    On a GPU the backend is chosen again: it has none of those of a CPU, and vice versa.
    """
    found, device = [unpack(payload) for payload in files], find_device(devices)
    fits = found[0].header.game
    for other in found[1:]:
        other.check(fits)
    nets, planes_shape = [each.build() for each in found], fits.planes_shape
    module = Ensemble(nets) if len(nets) > 1 else nets[0]
    if device.type == "cuda":
        use_device(device)
        return GpuEvaluator(module, planes_shape, device=device)
    known = inference if inference in ("fastest", *backends_on(device)) else "auto"
    return CpuEvaluator(module, planes_shape, backend=known, batch_size=batch_size, device=device)
