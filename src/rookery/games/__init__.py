"""The games: rules in plain Python, compiled, and the checks that every game must pass."""

from rookery.base import IllegalPosition, compiled
from rookery.games.board import Board
from rookery.games.contract.check import CheckResult, check_game, quick_check
from rookery.games.game import (
    DRAW,
    LOSS,
    ONGOING,
    RESULT_TEXTS,
    RESULTS,
    WIN,
    Action,
    Game,
    GameRecord,
    State,
    States,
    rules_digest,
)
from rookery.games.registry import (
    game_names,
    is_cpu_only,
    is_loaded,
    is_shipped,
    load_game,
    plain_name,
    read_rules,
    rules_file,
)
from rookery.games.repetitions import (
    Repetitions,
    bind_repetitions,
    count_repetitions,
    new_repetitions,
)

__all__ = [
    "DRAW",
    "LOSS",
    "ONGOING",
    "RESULTS",
    "RESULT_TEXTS",
    "WIN",
    "Action",
    "Board",
    "CheckResult",
    "Game",
    "GameRecord",
    "IllegalPosition",
    "Repetitions",
    "State",
    "States",
    "bind_repetitions",
    "check_game",
    "compiled",
    "count_repetitions",
    "game_names",
    "is_cpu_only",
    "is_loaded",
    "is_shipped",
    "load_game",
    "new_repetitions",
    "plain_name",
    "quick_check",
    "read_rules",
    "rules_digest",
    "rules_file",
]
