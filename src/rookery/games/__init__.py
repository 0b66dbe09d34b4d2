"""The games: rules in plain Python, compiled; the contract they keep; the record of one game."""

from rookery.games.board import Board
from rookery.games.contract.check import Finding, check_game
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
from rookery.games.registry import (
    game_names,
    is_loaded,
    is_shipped,
    load_game,
    plain_name,
    read_rules,
)
from rookery.games.repetitions import (
    Repetitions,
    bind_repetitions,
    count_repetitions,
    new_repetitions,
)
from rookery.games.scoresheet import ScoreSheet

__all__ = [
    "DRAW",
    "LOSS",
    "ONGOING",
    "WIN",
    "Action",
    "Board",
    "Finding",
    "Game",
    "Repetitions",
    "ScoreSheet",
    "State",
    "States",
    "bind_repetitions",
    "check_game",
    "count_repetitions",
    "from_module",
    "game_names",
    "is_loaded",
    "is_shipped",
    "load_game",
    "new_repetitions",
    "plain_name",
    "read_rules",
    "rules_digest",
]
