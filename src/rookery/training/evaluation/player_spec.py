"""Players as they are told to another process, which makes them anew."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache, lru_cache
from typing import Any

from rookery.arena import (
    Connect4Solver,
    ExhaustiveSolver,
    Player,
    SearchPlayer,
    Solver,
    SolverPlayer,
    named_player,
)
from rookery.base import ConfigError, fingerprint
from rookery.games import Game, load_game
from rookery.gpu import find_device, use_device
from rookery.nets import CPU_BACKENDS, CpuEvaluator, Ensemble, GpuEvaluator, unpack
from rookery.search import SearchConfig

EVALUATORS = 4
"""Nets that a process keeps ready: making one takes seconds where its method is to be found."""
BATCH_SIZE = 256
SOLVED = ("connect4", "tictactoe")


@dataclass(frozen=True)
class PlayerSpec:
    """All that it takes to make a player; what its kind does not need is left at its default."""

    kind: str
    """plain, solver or net."""
    name: str = ""
    """plain: what `arena.plain_player` makes it from; net: how reports call it."""
    simulations: int = 0
    """net: simulations a move, 0 is the bare net."""
    search: SearchConfig = field(default_factory=SearchConfig)
    """net: how it searches."""
    weights: bytes = field(default=b"", repr=False)
    """net: the content of its file."""
    partners: tuple[bytes, ...] = field(default=(), repr=False)
    """net: the files of those that it is averaged with."""
    inference: str = "auto"
    """net: how it is evaluated on the CPU, if that is known there."""
    devices: str = "cpu"
    """net: where."""
    batch_size: int = BATCH_SIZE
    """net: boards it is asked about at once on the CPU, at most; "auto" measures with so many."""

    def player(self, game: Game, *, seed: int) -> Player:
        """The player, as if it had never played."""
        if self.kind == "plain":
            return named_player(self.name, game, seed=seed)
        if self.kind == "solver":
            return SolverPlayer(game, _solver(game.name), seed=seed)
        return SearchPlayer(
            game,
            self.evaluator(),
            config=self.search,
            simulations=self.simulations,
            seed=seed,
            name=self.name,
        )

    def evaluator(self) -> CpuEvaluator | GpuEvaluator:
        """Its net ready to be asked, the same one every time in a process."""
        return _evaluator(self.files(), self.inference, self.devices, self.batch_size)

    def files(self) -> tuple[bytes, ...]:
        """All weights that it needs."""
        return (self.weights, *self.partners)

    def is_on_gpu(self) -> bool:
        """Whether its net is evaluated there."""
        return self.kind == "net" and find_device(self.devices).type == "cuda"

    def settled(self, game: Game) -> "PlayerSpec":
        """The same with nothing left to be chosen; an error if it cannot play `game`."""
        self.player(game, seed=0)
        if self.kind != "net":
            return self
        device = str(find_device(self.devices))
        return replace(self, inference=self.evaluator().backend, devices=device)

    def remarks(self) -> list[str]:
        """What people should know of how its net is evaluated."""
        evaluator = self.evaluator() if self.kind == "net" else None
        return fallbacks(evaluator) if isinstance(evaluator, GpuEvaluator) else []

    def to_plain(self) -> dict[str, Any]:
        """The contestant as JSON takes it, with the fingerprints of its weights for them."""
        partners = [fingerprint(partner) for partner in self.partners]
        return {**asdict(self), "weights": fingerprint(self.weights), "partners": partners}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any], weights: Mapping[str, bytes]) -> "PlayerSpec":
        """What `to_plain` wrote; `weights` are looked up by their fingerprints."""
        found = {
            "search": SearchConfig(**plain["search"]),
            "weights": weights[plain["weights"]],
            "partners": tuple(weights[partner] for partner in plain["partners"]),
        }
        return cls(**{**plain, **found})


def fallbacks(evaluator: GpuEvaluator) -> list[str]:
    """Why a GPU does not run a net in the fastest way, if so."""
    dropped = evaluator.choice.dropped.items()
    return [f"the net runs by {evaluator.backend}: {backend} {why}" for backend, why in dropped]


@lru_cache(maxsize=EVALUATORS)
def _evaluator(
    files: tuple[bytes, ...], inference: str, devices: str, batch_size: int
) -> CpuEvaluator | GpuEvaluator:
    """A net ready to be asked, or several of one game that answer as one.

    On a GPU `inference` is chosen anew: methods of the CPU mean nothing there, nor the reverse.
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
    known = inference if inference in CPU_BACKENDS else "auto"
    return CpuEvaluator(module, planes_shape, backend=known, batch_size=batch_size)


@cache
def _solver(name: str) -> Solver:
    """Perfect play, where there is a solver for the game."""
    if name not in SOLVED:
        raise ConfigError(f"there is no solver for {name}; try minimax:4")
    return Connect4Solver() if name == "connect4" else ExhaustiveSolver(load_game(name))
