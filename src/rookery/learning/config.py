"""How to learn."""

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from math import isfinite

from rookery.base import ConfigError, UnknownName

METHODS = {
    "single": "",
    "distributed": "sharing every batch",
    "data_parallel": "learning apart",
    "pipeline": "with a part of the net each",
}
"""With what trainers do in each."""
SYNCHRONISE = ("all_reduce", "gather_broadcast", "parameter_server")
COMPRESS = ("none", "fp16", "bf16", "powersgd", "topk")
SCALING = ("none", "linear", "sqrt")
ABOVE_ZERO = (
    "batch_size",
    "accumulate",
    "reuse",
    "learning_rate",
    "clip_norm",
    "sync_every",
    "patience",
    "checkpoint_every",
)
PRECISIONS = ("auto", "bfloat16", "float32")
NOT_CUT = (
    "scaling",
    "synchronise",
    "sync_every",
    "outer_momentum",
    "compress",
    "compression_ratio",
    "balance_every",
    "max_batch_ratio",
    "compiled",
)
"""Has no meaning where the net is cut: everybody sees every row, and nothing is averaged."""


@dataclass(frozen=True)
class LearningConfig:
    """How the weights follow the window."""

    method: str = "single"
    """Who computes gradients: single (one process), distributed (trainers that share every batch),
    data_parallel (trainers that learn apart and average their weights), pipeline (trainers that
    hold a part of the net each; a batch goes through them in `accumulate` parts)."""
    workers: str = "auto"
    """Trainers that learn together; auto = one a GPU, on the CPU what is faster here (pipeline:
    one)."""
    scaling: str = "none"
    """What grows with the trainers: none, or batch_size linearly and the rate linear or sqrt."""
    synchronise: str = "all_reduce"
    """How trainers exchange: all_reduce, gather_broadcast or parameter_server (the first one)."""
    sync_every: int = 8
    """data_parallel: updates between two averages of the weights."""
    outer_momentum: float = 0.0
    """data_parallel: how much of the last step of the averages the next one keeps."""
    compress: str = "none"
    """What is exchanged: none (all of it), fp16, bf16, powersgd or topk (largest numbers only)."""
    compression_ratio: float = 0.1
    """topk: share of the numbers that is sent; powersgd: share of the bytes. The rest is sent
    later."""
    balance_every: int = 50
    """Updates after which the trainers' shares of a batch follow their speeds; 0 = even shares."""
    max_batch_ratio: float = 4.0
    """Largest share of a batch, in smallest ones."""
    patience: float = 10.0
    """Seconds of silence after which a trainer is taken for lost."""
    checkpoint_every: int = 200
    """Updates after which the trainers' state is fetched, for when all of them are lost."""
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
        _check_name("scaling", self.scaling, SCALING)
        _check_name("synchronise", self.synchronise, SYNCHRONISE)
        _check_name("compress", self.compress, COMPRESS)
        for name in ABOVE_ZERO:
            _check(name, getattr(self, name), "above 0", getattr(self, name) > 0)
        for name in ("warmup_updates", "weight_decay", "value_weight", "balance_every"):
            _check(name, getattr(self, name), "0 or more", getattr(self, name) >= 0)
        for name in ("final_rate", "result_mix", "ema", "outer_momentum"):
            _check(name, getattr(self, name), "from 0 to 1", 0 <= getattr(self, name) <= 1)
        even = self.batch_size % self.accumulate == 0
        _check("accumulate", self.accumulate, f"a divisor of {self.batch_size} rows", even)
        self._check_together()

    def _check_together(self) -> None:
        """What only matters where several learn."""
        ratio, most = self.compression_ratio, self.max_batch_ratio
        _check("compression_ratio", ratio, "from 0.1 to 1", 0.1 <= ratio <= 1)
        _check("max_batch_ratio", most, "1 or more", most >= 1)
        if not (self.workers == "auto" or self.workers.isdecimal()) or self.workers == "0":
            raise ConfigError(f"learning.workers is {self.workers!r}, expected a number or auto")
        goes_together = self.method == "distributed" and self.synchronise == "all_reduce"
        if self.compress == "powersgd" and self.method != "single" and not goes_together:
            raise ConfigError(
                "learning.compress=powersgd compresses gradients on their way: it needs "
                "learning.method=distributed and learning.synchronise=all_reduce"
            )
        if self.method == "pipeline":
            self._check_cut()

    def _check_cut(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in NOT_CUT and value not in (field.default, 0):  # 0 is off
                raise ConfigError(
                    f"learning.{field.name} is {value}, expected {field.default}: with "
                    "learning.method=pipeline trainers share out the net and not the rows"
                )

    def terms(self, workers: int) -> str:
        """On what terms so many trainers learn, in a sentence."""
        trainers = "trainer" if workers == 1 else f"trainers {METHODS[self.method]}"
        parts = f" in {self.accumulate} parts" if self.accumulate > 1 else ""
        return (
            f"{workers} {trainers}: {self.batch_size} rows an update{parts}, "
            f"peak rate {self.learning_rate:g}"
        )

    def scaled(self, workers: int) -> "LearningConfig":
        """The settings that so many trainers learn with."""
        if self.scaling == "none":
            return self
        gain = workers if self.scaling == "linear" else workers**0.5
        return replace(
            self,
            batch_size=self.batch_size * workers,
            learning_rate=self.learning_rate * gain,
            scaling="none",
        )


def _check(name: str, value: float, expected: str, is_right: bool) -> None:
    if not (is_right and isfinite(value)):
        raise ConfigError(f"learning.{name} is {value}, expected {expected}")


def _check_name(name: str, value: str, known: Iterable[str]) -> None:
    if value not in known:
        raise UnknownName(f"learning.{name}", value, known)
