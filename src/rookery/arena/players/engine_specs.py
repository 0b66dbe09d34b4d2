"""Chess engines by text:

stockfish:1350         Stockfish held to a UCI_Elo of 1350 to 2850
fairy:-10              Fairy-Stockfish at a skill level of -20 to 20
uci:COMMAND            any UCI engine, 100 ms a move; its options follow a question mark, and one of
uci:COMMAND?Hash=64&nodes=1000     depth, nodes or movetime says how long it thinks

An engine that is held back draws its move from the best four at a depth of one ply and another for
every level of skill. What it searches beyond changes nothing of the move (Stockfish's `Skill`):
so here it ends there, and plays on any machine, however busy, as on the fastest.
"""

import shlex
import shutil
from collections.abc import Sequence

from rookery.arena.players.engine import PATIENCE, EngineSpec
from rookery.base import ConfigError

ELOS = (1350, 2850)
SKILLS = (-20, 20)
LIMITS = ("depth", "nodes", "movetime")
FAMILIES = ("stockfish", "fairy", "uci")
FOLDERS = "/usr/games:/usr/local/games"
"""Where Debian has its engines; not everybody's PATH leads there."""
_PLAIN = (("Threads", "1"), ("Hash", "16"))


def read_engine(text: str) -> EngineSpec:
    """The engine that `text` names; ConfigError if it is not here or the text makes no sense."""
    family, _, rest = text.partition(":")
    if family == "stockfish":
        return _stockfish(_number(text, rest, ELOS))
    if family == "fairy":
        return _fairy(_number(text, rest, SKILLS))
    return _any(rest)


def _stockfish(elo: int) -> EngineSpec:
    options = (*_PLAIN, ("UCI_LimitStrength", "true"), ("UCI_Elo", str(elo)))
    return EngineSpec(
        f"stockfish:{elo}",
        _find(["stockfish"], package="stockfish"),
        options,
        f"depth {1 + int(skill_of(elo))}",
    )


def skill_of(elo: int) -> float:
    """The skill level that Stockfish 15.1 gives itself for a UCI_Elo."""
    return float(min(20.0, max(0.0, ((elo - 1346.6) / 143.4) ** (1 / 0.806))))


def _fairy(skill: int) -> EngineSpec:
    return EngineSpec(
        f"fairy:{skill}",
        _find(["fairy-stockfish"], package="fairy-stockfish"),
        (*_PLAIN, ("Skill Level", str(skill))),
        f"depth {1 + max(0, skill)}",
    )


def _any(text: str) -> EngineSpec:
    command, _, query = text.partition("?")
    pairs = [part.partition("=") for part in query.split("&") if part]
    try:
        words = shlex.split(command)
    except ValueError:
        words = []  # a quotation without an end
    limits = {name: value for name, _, value in pairs if name in LIMITS}
    options = [(name, value) for name, _, value in pairs if name not in LIMITS]
    is_whole = all(equals for _, equals, _ in pairs) and all(map(str.isdecimal, limits.values()))
    if not words or not is_whole:
        raise ConfigError(
            f"engines are named as in uci:COMMAND or uci:COMMAND?Hash=64&nodes=1000, got uci:{text}"
        )
    return EngineSpec(
        f"uci:{text}",
        _find(words),
        tuple(options),
        " ".join(f"{name} {value}" for name, value in limits.items()) or "movetime 100",
        move_seconds=PATIENCE + int(limits.get("movetime", "0")) / 1000,
    )


def _number(text: str, digits: str, bounds: tuple[int, int]) -> int:
    low, high = bounds
    is_number = digits.removeprefix("-").isdecimal()
    if not is_number or not low <= int(digits) <= high:
        family = text.partition(":")[0]
        raise ConfigError(f"{family} takes a strength of {low} to {high}, got {text!r}")
    return int(digits)


def _find(command: Sequence[str], *, package: str = "") -> tuple[str, ...]:
    """The command with the path of its program."""
    found = shutil.which(command[0]) or shutil.which(command[0], path=FOLDERS)
    if found is None:
        remedy = f"on Debian: apt install {package}" if package else "give its path"
        raise ConfigError(f"there is no engine {command[0]!r} on this machine; {remedy}")
    return (found, *command[1:])
