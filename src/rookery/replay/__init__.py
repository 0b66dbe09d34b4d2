"""What the learner learns from: compact positions of many games, on disk and in a window."""

from rookery.replay.sampler import Batch, prefetch, sample
from rookery.replay.samples import Samples
from rookery.replay.shard import read_shard, shard_path, write_shard
from rookery.replay.window import ReplayConfig, Window, WindowStatistics

__all__ = [
    "Batch",
    "ReplayConfig",
    "Samples",
    "Window",
    "WindowStatistics",
    "prefetch",
    "read_shard",
    "sample",
    "shard_path",
    "write_shard",
]
