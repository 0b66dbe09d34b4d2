"""The public API: what `import rookery as rk` offers."""

from rookery.api.analyser import MAX_BATCH, Analyser, Candidate, Found, analyse
from rookery.api.analysis import Analysis, AnalysisInfo, Line
from rookery.api.board import Board
from rookery.api.matches import match
from rookery.api.net import Net, load_net
from rookery.api.players import (
    SIMULATIONS,
    NetRef,
    default_opponent,
    is_game,
    read_initial_weights,
    read_net,
    read_player_spec,
    split_members,
)
from rookery.api.runs import (
    Run,
    RunStats,
    devices_for,
    folder_stem,
    free_folder,
    length_settings,
    open_run,
    placement,
    plan,
    plan_from,
    start_from,
    train,
)
from rookery.api.searching import SearchResult, search
from rookery.api.standards import to_pettingzoo

__all__ = [
    "MAX_BATCH",
    "SIMULATIONS",
    "Analyser",
    "Analysis",
    "AnalysisInfo",
    "Board",
    "Candidate",
    "Found",
    "Line",
    "Net",
    "NetRef",
    "Run",
    "RunStats",
    "SearchResult",
    "analyse",
    "default_opponent",
    "devices_for",
    "folder_stem",
    "free_folder",
    "is_game",
    "length_settings",
    "load_net",
    "match",
    "open_run",
    "placement",
    "plan",
    "plan_from",
    "read_initial_weights",
    "read_net",
    "read_player_spec",
    "search",
    "split_members",
    "start_from",
    "to_pettingzoo",
    "train",
]
