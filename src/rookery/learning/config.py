"""How to learn."""

from dataclasses import dataclass
from math import isfinite

from rookery.base import ConfigError, UnknownName

METHODS = ("single",)
PRECISIONS = ("auto", "bfloat16", "float32")


@dataclass(frozen=True)
class LearningConfig:
    """How the weights follow the window."""

    method: str = "single"
    """Who computes gradients: single (this process)."""
    batch_size: int = 512
    """Rows an update learns from."""
    accumulate: int = 1
    """Parts that a batch is computed in, to save memory; batch norm sees one part at a time."""
    reuse: float = 3.0
    """Rows trained on per new row of self-play."""
    learning_rate: float = 1e-3
    """Peak rate of AdamW."""
    warmup_updates: int = 100
    """Updates over which the rate rises from nothing."""
    final_rate: float = 0.1
    """Rate at the end of the run, as a share of the peak."""
    weight_decay: float = 1e-4
    """Decay of AdamW, on matrices and kernels only."""
    clip_norm: float = 4.0
    """Largest norm of a gradient; longer ones are shortened to it."""
    value_weight: float = 1.0
    """Weight of the value's loss; the policy's is 1."""
    result_mix: float = 0.5
    """Share of the game's result in the value target; the rest is the search's value."""
    ema: float = 0.998
    """Decay per update of the averaged weights that play."""
    precision: str = "auto"
    """float32, bfloat16 (autocast), or auto: the faster one, measured at the start."""

    compiled: bool = False
    """Whether torch.compile makes the gradients' code: half a minute once, then a quarter less."""

    def __post_init__(self) -> None:
        _check_name("method", self.method, METHODS)
        _check_name("precision", self.precision, PRECISIONS)
        for name in ("batch_size", "accumulate", "reuse", "learning_rate", "clip_norm"):
            _check(name, getattr(self, name), "above 0", getattr(self, name) > 0)
        for name in ("warmup_updates", "weight_decay", "value_weight"):
            _check(name, getattr(self, name), "0 or more", getattr(self, name) >= 0)
        for name in ("final_rate", "result_mix", "ema"):
            _check(name, getattr(self, name), "from 0 to 1", 0 <= getattr(self, name) <= 1)
        even = self.batch_size % self.accumulate == 0
        _check("accumulate", self.accumulate, f"a divisor of {self.batch_size} rows", even)


def _check(name: str, value: float, expected: str, is_right: bool) -> None:
    if not (is_right and isfinite(value)):
        raise ConfigError(f"learning.{name} is {value}, expected {expected}")


def _check_name(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise UnknownName(f"learning.{name}", value, known)
