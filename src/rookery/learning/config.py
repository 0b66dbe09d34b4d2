"""Settings of learning."""

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import ClassVar

from rookery.base import (
    MAX_PROCESSES,
    ConfigError,
    Ranges,
    UnknownName,
    check_ranges,
    read_whole,
)
from rookery.learning.loss import LossWeights

METHODS = {
    "single": "",
    "distributed": "sharing every batch (DDP)",
    "data_parallel": "averaging their weights (local SGD)",
    "pipeline": "holding one part of the network each",
}
"""With what several trainers do."""
SYNCHRONISE = ("all_reduce", "gather_broadcast", "parameter_server")
COMPRESS = ("none", "fp16", "bf16", "powersgd", "topk")
SCALING = ("none", "linear", "sqrt")
OPTIMIZERS = ("adamw", "muon")
PRECISIONS = ("auto", "bfloat16", "float32")
NOT_IN_PIPELINE = (
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
"""Have no meaning in a pipeline: every trainer sees every row, and nothing is averaged."""


@dataclass(frozen=True)
class LearningConfig:
    """How the network is trained."""

    RANGES: ClassVar[Ranges] = {
        "sync_every": (1, 1_000_000),
        "outer_momentum": (0, 1),
        "compression_ratio": (0.1, 1),
        "prefetch": (0, 1000),
        "balance_every": (0, 1_000_000),
        "max_batch_ratio": (1, 1_000_000),
        "silence_seconds": (0.01, 100_000),
        "checkpoint_every": (1, 1_000_000),
        "retries": (0, 1000),
        "batch_size": (1, 10_000_000),
        "accumulate": (1, 10_000_000),
        "reuse": (1e-6, 1000),
        "learning_rate": (1e-12, 10**6),
        "warmup_updates": (0, 1_000_000_000),
        "final_rate": (0, 1),
        "decay_share": (0.01, 1),
        "weight_decay": (0, 1000),
        "clip_norm": (1e-9, 10**9),
        "value_weight": (0, 1_000_000),
        "result_mix": (0, 1),
        "ema": (0, 1),
    }

    method: str = "single"
    """How to learn: single (one process), distributed (trainers share every batch, DDP),
    data_parallel (trainers learn independently and average their weights, local SGD) or pipeline
    (each trainer holds one part of the network; a batch passes through in `accumulate` parts)."""
    workers: str = "auto"
    """Number of trainers; auto = one per GPU, and on the CPU one or one per core, whichever is
    faster (pipeline: one)."""
    scaling: str = "none"
    """What to multiply by the number of trainers: none; linear: batch_size and learning_rate;
    sqrt: batch_size, and learning_rate by the square root."""
    synchronise: str = "all_reduce"
    """How trainers synchronise: all_reduce, gather_broadcast, or parameter_server (the first
    trainer)."""
    sync_every: int = 8
    """data_parallel: updates between two averages of the weights."""
    outer_momentum: float = 0.0
    """data_parallel: momentum of the steps from one average to the next."""
    compress: str = "none"
    """Compression of what trainers exchange: none, fp16, bf16, powersgd, or topk (largest
    elements)."""
    compression_ratio: float = 0.1
    """topk: share of the elements sent; powersgd: share of the bytes sent. The rest is added to
    later updates."""
    overlap: bool = True
    """distributed with all_reduce: whether gradients are sent during the backward pass, in
    buckets, or as one vector after it (powersgd: always one bucket)."""
    prefetch: int = 2
    """Batches that a thread builds ahead of the update; 0 = each when it is needed. On a GPU,
    batches are built there (except by a pipeline) and this has no effect."""
    pin_memory: bool = True
    """Whether batches for a GPU are built in pinned host memory, which it reads while the host
    continues."""
    balance_every: int = 50
    """Updates between two adjustments of the trainers' shares to their speeds; 0 = equal shares."""
    max_batch_ratio: float = 4.0
    """Maximum ratio of the largest to the smallest share of a batch."""
    silence_seconds: float = 10.0
    """Seconds without an answer after which a trainer counts as lost."""
    checkpoint_every: int = 200
    """Updates between two copies of the trainers' state, used if all of them are lost. Copies that
    would take more than 2 % of the time are made less often."""
    retries: int = 5
    """How often learning may fail between two checkpoints, for example with a loss that is not
    finite. Each time it goes back to its last good state and continues with half the learning rate;
    one more failure ends the run."""
    batch_size: int = 512
    """Rows per update."""
    accumulate: int = 1
    """Parts in which a batch is computed, to save memory; batch norm sees one part at a time."""
    reuse: float = 3.0
    """Rows trained on per new row of self-play."""
    optimizer: str = "adamw"
    """adamw, or muon: convolutions by Muon, which makes their steps orthogonal, the rest by
    AdamW."""
    learning_rate: float = 1e-3
    """Peak learning rate of the optimizer."""
    warmup_updates: int = 100
    """Updates over which the learning rate rises from zero."""
    final_rate: float = 0.1
    """Learning rate at the end of the run, as a share of the peak."""
    decay_share: float = 1.0
    """Share of the run, at its end, in which the learning rate falls; constant before."""
    weight_decay: float = 1e-4
    """Weight decay of the optimizer; biases and norms do not decay."""
    clip_norm: float = 4.0
    """Maximum norm of the gradient."""
    value_weight: float = 1.0
    """Weight of the value loss; the policy loss has weight 1."""
    own_losses: str = ""
    """Losses of your own that are added, each NAME:WEIGHT, separated by commas
    (docs/own-parts.md)."""
    result_mix: float = 0.5
    """Share of the game's result in the value target; the rest is the search's value."""
    ema: float = 0.998
    """Decay per update of the exponential moving average of the weights, which plays."""
    precision: str = "auto"
    """float32, bfloat16 (autocast), or auto: the faster one, measured at the start."""
    freeze: str = ""
    """Parts of the network that do not learn, separated by commas; tower is stem and blocks,
    blocks.0 the first of them."""
    compiled: bool = False
    """Whether to use torch.compile: half a minute at the start, then a quarter less time."""

    def __post_init__(self) -> None:
        _check_name("method", self.method, METHODS)
        _check_name("precision", self.precision, PRECISIONS)
        _check_name("optimizer", self.optimizer, OPTIMIZERS)
        _check_name("scaling", self.scaling, SCALING)
        _check_name("synchronise", self.synchronise, SYNCHRONISE)
        _check_name("compress", self.compress, COMPRESS)
        check_ranges("learning", self, self.RANGES)
        self.loss_weights()
        if self.batch_size % self.accumulate:
            raise ConfigError(
                f"learning.accumulate is {self.accumulate}, expected a divisor of "
                f"{self.batch_size} rows"
            )
        self._check_together()

    def _check_together(self) -> None:
        """Check the settings that matter with several trainers only."""
        if self.workers != "auto":
            read_whole("learning.workers", self.workers, (1, MAX_PROCESSES), words=", or auto")
        is_ddp = self.method == "distributed" and self.synchronise == "all_reduce"
        if self.compress == "powersgd" and self.method != "single" and not is_ddp:
            raise ConfigError(
                "learning.compress=powersgd needs learning.method=distributed and "
                "learning.synchronise=all_reduce"
            )
        for field in fields(self) if self.method == "pipeline" else ():
            value = getattr(self, field.name)
            if field.name in NOT_IN_PIPELINE and value not in (field.default, 0):  # 0 is off
                raise ConfigError(
                    f"learning.{field.name} is {value}, expected {field.default}: with "
                    "learning.method=pipeline trainers share the network, not the rows"
                )

    def loss_weights(self) -> LossWeights:
        """Return what the loss consists of, or raise ConfigError."""
        return LossWeights.read(self.value_weight, self.own_losses)

    @property
    def frozen(self) -> tuple[str, ...]:
        """The names in `freeze`."""
        names = (name.strip() for name in self.freeze.split(","))
        return tuple(name for name in names if name)

    def terms(self, workers: int) -> str:
        """Return one line that says how `workers` trainers learn, and what is scaled for them."""
        trainers = "trainer" if workers == 1 else f"trainers {METHODS[self.method]}"
        parts = f" in {self.accumulate} parts" if self.accumulate > 1 else ""
        scaled = self.scaled(workers)
        rows = _change(f"{self.batch_size}", f"{scaled.batch_size}")
        rate = _change(f"{self.learning_rate:g}", f"{scaled.learning_rate:g}")
        why = f" (learning.scaling={self.scaling})" if scaled.batch_size > self.batch_size else ""
        return (
            f"{workers} {trainers}: {rows} rows per update{parts}, peak learning rate {rate}{why}"
        )

    def scaled(self, workers: int) -> "LearningConfig":
        """Return the settings that `workers` trainers learn with."""
        if self.scaling == "none":
            return self
        gain = workers if self.scaling == "linear" else workers**0.5
        size, rate = self.batch_size * workers, self.learning_rate * gain
        return replace(self, batch_size=size, learning_rate=rate, scaling="none")


def _change(before: str, after: str) -> str:
    return after if before == after else f"from {before} to {after}"


def _check_name(name: str, value: str, known: Iterable[str]) -> None:
    if value not in known:
        raise UnknownName(f"learning.{name}", value, known)
