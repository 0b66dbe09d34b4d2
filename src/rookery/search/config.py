"""How to search: what a user sets, and the same numbers as the kernels take them."""

from dataclasses import dataclass
from math import inf
from typing import NamedTuple

import numpy as np

from rookery.base import ConfigError, UnknownName

METHODS = ("gumbel", "puct")


@dataclass(frozen=True)
class SearchConfig:
    """Settings of the search."""

    method: str = "gumbel"
    """`gumbel` (sequential halving, completed-Q targets) or `puct` (with root noise)."""
    considered: int = 16
    """gumbel: moves considered at the root, at most."""
    c_visit: float = 50.0
    """gumbel: visits added to the most visited move's in the weight of values."""
    c_scale: float = 1.0
    """gumbel: weight of values (on a scale from 0 to 1) beside log priors."""
    c_init: float = 1.25
    """puct: weight of priors."""
    c_base: float = 19652.0
    """puct: visits after which that weight grows."""
    first_play_reduction: float = 0.2
    """puct: how far below its parent's mean an unvisited move is valued."""
    noise_alpha: float = 1.0
    """puct: concentration of the Dirichlet noise at the root."""
    noise_fraction: float = 0.25
    """puct: share of that noise in the root's priors."""
    prove: bool = True
    """Carry proved wins, draws and losses up the tree."""

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise UnknownName("search.method", self.method, METHODS)
        for name in ("considered", "c_visit", "c_scale", "c_init", "c_base", "noise_alpha"):
            if not 0 < getattr(self, name) < inf:
                raise ConfigError(f"search.{name} must be above 0, got {getattr(self, name)}")
        if not 0 <= self.noise_fraction <= 1:
            raise ConfigError(f"search.noise_fraction must be in 0..1, got {self.noise_fraction}")

    def finds_ends(self, *, explore: bool) -> bool:
        """Whether each root move is played once to see if it ends the game; not while exploring.

        The searches of self-play teach a policy made of simulations, and stay as they are.
        """
        return self.prove and not explore

    def settings(self, *, explore: bool) -> "Settings":
        """The same for the kernels; without `explore` there is no noise at the root."""
        return Settings(
            considered=self.considered,
            c_visit=np.float32(self.c_visit),
            c_scale=np.float32(self.c_scale),
            c_init=np.float32(self.c_init),
            c_base=np.float32(self.c_base),
            first_play_reduction=np.float32(self.first_play_reduction),
            noise_alpha=np.float32(self.noise_alpha),
            noise_fraction=np.float32(self.noise_fraction if explore else 0.0),
            gumbel_scale=np.float32(1.0 if explore else 0.0),
            prove=self.prove,
        )


class Settings(NamedTuple):
    """`SearchConfig` as plain numbers, a tuple that kernels take."""

    considered: int
    c_visit: np.float32
    c_scale: np.float32
    c_init: np.float32
    c_base: np.float32
    first_play_reduction: np.float32
    noise_alpha: np.float32
    noise_fraction: np.float32
    gumbel_scale: np.float32
    prove: bool
