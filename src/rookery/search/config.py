"""Settings of the search, as a user writes them and as kernels read them."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple, TypedDict

import numpy as np

from rookery.base import Ranges, UnknownName, check_ranges

METHODS = ("gumbel", "puct")
MAX_PROOF_NODES = 10**6


@dataclass(frozen=True)
class SearchConfig:
    """Settings of the search."""

    RANGES: ClassVar[Ranges] = {
        "considered": (1, 100_000),
        "c_visit": (1e-6, 10**9),
        "c_scale": (1e-6, 10**6),
        "c_init": (1e-6, 10**6),
        "c_base": (1e-6, 10**12),
        "first_play_reduction": (-2, 2),
        "policy_temperature": (0.01, 100),
        "noise_alpha": (1e-6, 10**6),
        "noise_fraction": (0, 1),
        "proof_nodes": (0, MAX_PROOF_NODES),
    }

    method: str = "gumbel"
    """`gumbel` (sequential halving, completed-Q targets) or `puct` (with root noise)."""
    considered: int = 16
    """gumbel: maximum number of moves considered at the root."""
    c_visit: float = 50.0
    """gumbel: constant added to the highest visit count when values are weighted."""
    c_scale: float = 1.0
    """gumbel: weight of values (scaled to 0..1) relative to log priors."""
    c_init: float = 1.25
    """puct: weight of priors."""
    c_base: float = 19652.0
    """puct: number of visits from which the weight of priors grows."""
    first_play_reduction: float = 0.2
    """puct: an unvisited move is valued at its parent's mean minus this."""
    policy_temperature: float = 1.0
    """puct: priors are raised to 1 / this; above 1, unlikely moves are searched more."""
    noise_alpha: float = 1.0
    """puct: concentration of the Dirichlet noise at the root."""
    noise_fraction: float = 0.25
    """puct: share of that noise in the root's priors."""
    prove: bool = True
    """Back up proved wins, draws and losses as exact values."""
    proof_nodes: int = 0
    """With `prove`: maximum number of positions played ahead of a new one, to prove it by the rules
    alone before the network is asked; 0 = none."""

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise UnknownName("search.method", self.method, METHODS)
        check_ranges("search", self, self.RANGES)

    @property
    def proves_leaves(self) -> bool:
        """Whether new positions are proved by playing ahead; kernels are compiled for it."""
        return self.prove and self.proof_nodes > 0

    def settings(self, *, explore: bool) -> "Settings":
        """Return the settings for kernels; without `explore` the root gets no noise."""
        return Settings(
            considered=self.considered,
            c_visit=np.float32(self.c_visit),
            c_scale=np.float32(self.c_scale),
            c_init=np.float32(self.c_init),
            c_base=np.float32(self.c_base),
            first_play_reduction=np.float32(self.first_play_reduction),
            policy_temperature=np.float32(
                self.policy_temperature if self.method == "puct" else 1.0
            ),
            noise_alpha=np.float32(self.noise_alpha),
            noise_fraction=np.float32(self.noise_fraction if explore else 0.0),
            gumbel_scale=np.float32(1.0 if explore else 0.0),
            prove=self.prove,
            proof_nodes=self.proof_nodes,
        )


class SearchOptions(TypedDict):
    """Keyword arguments of every batched search."""

    config: SearchConfig
    num_games: int
    """Number of trees, G."""
    max_simulations: int
    """Largest number of simulations of one `run`; the size of the trees follows from it."""
    explore: bool
    """Add noise at the root, as in self-play, whose policy targets come from simulations alone:
    only without it is every root move tried once before the first simulation."""
    seed: int
    """Seed of that noise."""


class Settings(NamedTuple):
    """`SearchConfig` as a tuple of plain numbers, which kernels accept."""

    considered: int
    c_visit: np.float32
    c_scale: np.float32
    c_init: np.float32
    c_base: np.float32
    first_play_reduction: np.float32
    policy_temperature: np.float32
    noise_alpha: np.float32
    noise_fraction: np.float32
    gumbel_scale: np.float32
    prove: bool
    proof_nodes: int
