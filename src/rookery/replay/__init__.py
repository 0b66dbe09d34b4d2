"""What the learner learns from: compact positions of many games, on disk and in a window."""

from rookery.replay.books import ReplayConfig
from rookery.replay.deck import Indices, deal
from rookery.replay.device import DeviceWindow
from rookery.replay.games import GameTrace, trace_games
from rookery.replay.rows import DeviceRows, new_rows, to_samples
from rookery.replay.sampler import EVERY, Batch, Column, prefetch, sample
from rookery.replay.samples import Samples
from rookery.replay.shard import from_columns, read_shard, shard_path, to_columns, write_shard
from rookery.replay.statistics import hash_states
from rookery.replay.window import Window, WindowStatistics

__all__ = [
    "EVERY",
    "Batch",
    "Column",
    "DeviceRows",
    "DeviceWindow",
    "GameTrace",
    "Indices",
    "ReplayConfig",
    "Samples",
    "Window",
    "WindowStatistics",
    "deal",
    "from_columns",
    "hash_states",
    "new_rows",
    "prefetch",
    "read_shard",
    "sample",
    "shard_path",
    "to_columns",
    "to_samples",
    "trace_games",
    "write_shard",
]
