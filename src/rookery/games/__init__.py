"""The games: rules in plain Python, compiled; the contract they keep; the record of one game."""

from rookery.games.contract import Finding, check_game
from rookery.games.course import Course
from rookery.games.game import (
    DRAW,
    LOSS,
    ONGOING,
    WIN,
    Action,
    Game,
    State,
    States,
    from_module,
    rules_digest,
)
from rookery.games.memory import Memory, bind_memory, count_times, new_memory
from rookery.games.record import GameRecord
from rookery.games.registry import game, game_names, is_loaded, is_shipped, plain_name, read_rules
from rookery.games.scoresheet import ScoreSheet

__all__ = [
    "DRAW",
    "LOSS",
    "ONGOING",
    "WIN",
    "Action",
    "Course",
    "Finding",
    "Game",
    "GameRecord",
    "Memory",
    "ScoreSheet",
    "State",
    "States",
    "bind_memory",
    "check_game",
    "count_times",
    "from_module",
    "game",
    "game_names",
    "is_loaded",
    "is_shipped",
    "new_memory",
    "plain_name",
    "read_rules",
    "rules_digest",
]
