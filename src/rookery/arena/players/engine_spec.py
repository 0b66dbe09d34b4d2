"""UCI engines by name:

stockfish:1350         Stockfish limited to a UCI_Elo of 1350 to 2850
fairy:-10              Fairy-Stockfish at a skill level of -20 to 20
uci:COMMAND            any UCI engine, with 100 ms per move
uci:COMMAND?Hash=64&nodes=1000     the same with UCI options and a limit: depth, nodes or movetime

Stockfish at reduced strength draws its move from its best four moves at a fixed depth: one ply,
plus one for each level of skill (`Skill` in its source). A deeper search does not change the move.
So the limit is that depth, and an engine plays the same on slow, busy and fast machines.
"""

import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass

from rookery.base import ConfigError, read_whole

ELO_RANGE = (1350, 2850)
SKILL_RANGE = (-20, 20)
LIMITS = ("depth", "nodes", "movetime")
MAX_LIMIT = 10**9
FAMILIES = ("stockfish", "fairy", "uci")
FOLDERS = "/usr/games:/usr/local/games"
"""Debian installs engines here, which is not on every PATH."""
GRACE_SECONDS = 60.0
Options = tuple[tuple[str, str], ...]
_DEFAULT_OPTIONS = (("Threads", "1"), ("Hash", "16"))


@dataclass(frozen=True)
class EngineSpec:
    """The command, options and search limit of an engine."""

    name: str
    command: tuple[str, ...]
    options: Options
    """Names and values for `setoption`."""
    limit: str
    """The arguments of `go`: `depth 1`, `nodes 100`, `movetime 50`."""
    timeout_seconds: float = GRACE_SECONDS
    """Time for one move, after which the engine counts as hung."""


def read_engine_spec(text: str) -> EngineSpec:
    """Return the engine with this name, or raise ConfigError.

    The error says whether the name is malformed or the engine is not installed.
    """
    family, _, argument = text.partition(":")
    if family == "stockfish":
        program, strength = "stockfish", _read_strength(text, ELO_RANGE)
        options: Options = (("UCI_LimitStrength", "true"), ("UCI_Elo", str(strength)))
        depth = 1 + int(skill_of(strength))
    elif family == "fairy":
        program, strength = "fairy-stockfish", _read_strength(text, SKILL_RANGE)
        options = (("Skill Level", str(strength)),)
        depth = 1 + max(0, strength)
    else:
        return _any_engine(argument)
    command = _find_program([program], remedy=f"on Debian: apt install {program}")
    name, options = f"{family}:{strength}", (*_DEFAULT_OPTIONS, *options)
    return EngineSpec(name, command, options, f"depth {depth}")


def skill_of(elo: int) -> float:
    """Return the skill level that Stockfish 15.1 derives from a UCI_Elo."""
    return float(min(20.0, max(0.0, ((elo - 1346.6) / 143.4) ** (1 / 0.806))))


def _any_engine(text: str) -> EngineSpec:
    command, _, query = text.partition("?")
    pairs = [part.partition("=") for part in query.split("&") if part]
    try:
        words = shlex.split(command)
    except ValueError:
        words = []  # unbalanced quotes
    limits = {name: value for name, _, value in pairs if name in LIMITS}
    options = [(name, value) for name, _, value in pairs if name not in LIMITS]
    if not words or not all(equals for _, equals, _ in pairs):
        raise ConfigError(
            f"engines are named as in uci:COMMAND or uci:COMMAND?Hash=64&nodes=1000, got uci:{text}"
        )
    for name, value in limits.items():
        read_whole(f"{name} in uci:{text}", value, (1, MAX_LIMIT))
    return EngineSpec(
        f"uci:{text}",
        _find_program(words, remedy="give its path"),
        tuple(options),
        " ".join(f"{name} {value}" for name, value in limits.items()) or "movetime 100",
        timeout_seconds=GRACE_SECONDS + int(limits.get("movetime", "0")) / 1000,
    )


def _read_strength(text: str, bounds: tuple[int, int]) -> int:
    family, _, digits = text.partition(":")
    return read_whole(f"the strength of {family}", digits, bounds)


def _find_program(command: Sequence[str], *, remedy: str) -> tuple[str, ...]:
    """Return the command with the path of its program."""
    found = shutil.which(command[0]) or shutil.which(command[0], path=FOLDERS)
    if found is None:
        raise ConfigError(f"there is no engine {command[0]!r} on this machine; {remedy}")
    return (found, *command[1:])
