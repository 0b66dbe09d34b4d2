"""What the learner learns from: compact positions of many games, on disk and in a window."""

from rookery.replay.books import ReplayConfig
from rookery.replay.device import DeviceWindow
from rookery.replay.rows import DeviceRows, new_rows, to_samples
from rookery.replay.sampler import Batch, Column, prefetch, sample
from rookery.replay.samples import Samples
from rookery.replay.shard import from_columns, read_shard, shard_path, to_columns, write_shard
from rookery.replay.statistics import hash_states
from rookery.replay.window import Window, WindowStatistics

__all__ = [
    "Batch",
    "Column",
    "DeviceRows",
    "DeviceWindow",
    "ReplayConfig",
    "Samples",
    "Window",
    "WindowStatistics",
    "from_columns",
    "hash_states",
    "new_rows",
    "prefetch",
    "read_shard",
    "sample",
    "shard_path",
    "to_columns",
    "to_samples",
    "write_shard",
]
