"""Find a game of OpenSpiel by name, and check that it is of the kind that Rookery plays.

Parameters are read here rather than by OpenSpiel, so that every mistake ends in one line.
"""

import re
from typing import Any

import numpy as np

from rookery.base import ConfigError, UnknownName, generator, import_extra

LONGEST = 1000  # moves; a position is stored as its moves
MAX_ACTIONS = np.iinfo(np.int16).max - 1  # replay stores actions as int16; one of them is to pass
MAX_LEGAL = 512
MAX_NUMBERS = 65_536  # of an observation
MAX_SETTING = 1000
_NAME = re.compile(r"(\w{1,64})(?:\(([^()]{0,200})\))?")
_SETTING = re.compile(r"(\w+)=([\w.;-]+)")


def find_game(text: str) -> Any:
    """Return the game of OpenSpiel that `text` names, as in `breakthrough(rows=6,columns=6)`."""
    parts = _NAME.fullmatch(text)
    if parts is None:
        raise ConfigError(
            f"openspiel:{text!r} is not the name of a game; expected one such as "
            "openspiel:tic_tac_toe or openspiel:breakthrough(rows=6,columns=6)"
        )
    spiel = import_extra("pyspiel", extra="openspiel", user=f"openspiel:{text}")
    kinds = {kind.short_name: kind for kind in spiel.registered_games()}
    fitting = [name for name, kind in kinds.items() if not _why_not(spiel, kind)]
    if parts[1] not in kinds:
        raise UnknownName("game of OpenSpiel:", parts[1], fitting)
    if why := _why_not(spiel, kinds[parts[1]]):
        raise _unfit(parts[1], why)
    settings = _read_settings(parts[1], parts[2] or "", kinds[parts[1]].parameter_specification)
    try:
        return _checked(text, spiel.load_game(parts[1], settings))
    except ConfigError:
        raise
    except Exception as error:  # OpenSpiel raises what C++ raises
        reason = " ".join(str(error).split())
        raise ConfigError(f"OpenSpiel cannot play {text}: {reason}") from error


def _why_not(spiel: Any, kind: Any) -> str:
    """Return what keeps Rookery from playing a kind of game; an empty string if nothing does."""
    types = spiel.GameType
    faults = {
        "it is a transformation of another game": "game" in kind.parameter_specification,
        "players move at the same time": kind.dynamics != types.Dynamics.SEQUENTIAL,
        "it has chance": kind.chance_mode != types.ChanceMode.DETERMINISTIC,
        "it has hidden information": kind.information != types.Information.PERFECT_INFORMATION,
        "it is not zero-sum": kind.utility != types.Utility.ZERO_SUM,
        "it is not for two players": not kind.min_num_players <= 2 <= kind.max_num_players,
        "it has no observation tensor": not kind.provides_observation_tensor,
    }
    return next((fault for fault, is_so in faults.items() if is_so), "")


def _unfit(name: str, why: str) -> ConfigError:
    return ConfigError(
        f"Rookery cannot play openspiel:{name}: {why}; expected a turn-based game of two players "
        "with perfect information, without chance, zero-sum"
    )


def _read_settings(name: str, text: str, known: dict[str, Any]) -> dict[str, Any]:
    settings = {}
    for part in text.split(",") if text else ():
        found = _SETTING.fullmatch(part.strip())
        if found is None:
            raise ConfigError(f"openspiel:{name}: {part!r} is not a parameter, as in rows=6")
        if found[1] not in known:
            raise UnknownName(f"parameter of openspiel:{name}:", found[1], known)
        settings[found[1]] = _read_value(found[1], found[2], known[found[1]])
    return settings


def _read_value(name: str, text: str, default: Any) -> Any:
    """Return the value of a parameter, of the type of its default."""
    if isinstance(default, bool):
        if text.lower() not in ("true", "false"):
            raise ConfigError(f"{name} is {text!r}, expected true or false")
        return text.lower() == "true"
    if isinstance(default, int):
        if not re.fullmatch(r"[0-9]{1,4}", text) or int(text) > MAX_SETTING:
            raise ConfigError(
                f"{name} is {text!r}, expected a whole number from 0 to {MAX_SETTING}"
            )
        return int(text)
    if isinstance(default, float):
        if not re.fullmatch(r"-?[0-9]{1,4}(\.[0-9]{1,4})?", text):
            raise ConfigError(f"{name} is {text!r}, expected a number such as {default}")
        return float(text)
    return text


def _checked(text: str, game: Any) -> Any:
    """Return `game` if its sizes are in range and a random game of it can be played."""
    if game.num_players() != 2:
        raise _unfit(text, "it is not for two players")
    sizes = (
        ("moves in a game", game.max_game_length(), LONGEST),
        ("actions", game.num_distinct_actions(), MAX_ACTIONS),
        ("numbers in an observation", game.observation_tensor_size(), MAX_NUMBERS),
    )
    for what, size, most in sizes:
        if not 1 <= size <= most:
            raise ConfigError(
                f"openspiel:{text} is too large or too small: {size} {what}, expected 1 to {most}"
            )
    state, stream = game.new_initial_state(), generator(0, "trial game")
    while not state.is_terminal():
        count = len(actions := state.legal_actions())
        if not 1 <= count <= MAX_LEGAL:
            raise ConfigError(
                f"openspiel:{text} is too large or too small: {count} legal moves in one position, "
                f"expected 1 to {MAX_LEGAL}"
            )
        state.apply_action(actions[int(stream.integers(count))])
    return game
