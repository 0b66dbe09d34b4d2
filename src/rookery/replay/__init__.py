"""Training data: rows of searched positions, on disk in shards and in a window to learn from."""

from rookery.replay.batch import Batch, prefetch
from rookery.replay.given import given_rows
from rookery.replay.part import deal_lanes, lanes_before, own_rows
from rookery.replay.rows import (
    GIVEN,
    PlayedGame,
    Rows,
    concatenate,
    copy_row,
    count,
    fetch,
    from_columns,
    game_starts,
    games_in,
    new_rows,
    read_shard,
    shard_path,
    to_columns,
    to_unit,
    write_shard,
)
from rookery.replay.statistics import WindowStatistics, hash_states
from rookery.replay.window import ReplayConfig, Window

__all__ = [
    "GIVEN",
    "Batch",
    "PlayedGame",
    "ReplayConfig",
    "Rows",
    "Window",
    "WindowStatistics",
    "concatenate",
    "copy_row",
    "count",
    "deal_lanes",
    "fetch",
    "from_columns",
    "game_starts",
    "games_in",
    "given_rows",
    "hash_states",
    "lanes_before",
    "new_rows",
    "own_rows",
    "prefetch",
    "read_shard",
    "shard_path",
    "to_columns",
    "to_unit",
    "write_shard",
]
