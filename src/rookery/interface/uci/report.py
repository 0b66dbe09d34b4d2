"""The `info` lines of a search."""

import math
from collections.abc import Iterator

from rookery.games import LOSS, WIN, Action, Game, State
from rookery.search import SearchProgress, Variation

MAX_VALUE = 0.99999
"""The highest value that is converted to centipawns."""


def centipawns(value: float) -> int:
    """Convert a value from -1 to 1: four pawns multiply the odds of winning by ten."""
    value = max(-MAX_VALUE, min(MAX_VALUE, value))
    return round(400 * math.log10((1 + value) / (1 - value)))


def score(line: Variation) -> str:
    """Return `cp` for the player to move, or `mate` in moves for a proved win or loss."""
    if line.proof == WIN:
        return f"mate {(line.plies + 1) // 2}"
    if line.proof == LOSS:
        return f"mate -{line.plies // 2}"
    return f"cp {centipawns(line.value)}"


def permille(line: Variation) -> str:
    """Return win, draw and loss, whose sum is 1000."""
    win, _, loss = (round(1000 * share) for share in line.wdl)
    return f"{win} {1000 - win - loss} {loss}"


def write_moves(game: Game, state: State, actions: tuple[Action, ...]) -> list[str]:
    """Return the moves from `state` on in UCI notation."""
    state, written = state.copy(), []
    for action in actions:
        written.append(str(game.write_move(state, action)))
        game.rules.play(state, action)
    return written


def info_lines(
    game: Game,
    state: State,
    lines: list[Variation],
    growth: SearchProgress,
    *,
    seconds: float,
    wdl: bool,
) -> Iterator[str]:
    """Yield one `info` line for each of the best moves."""
    speed = round(growth.simulations / max(seconds, 1e-3))
    end = f"nodes {growth.simulations} nps {speed} hashfull {round(1000 * growth.fullness)}"
    for rank, line in enumerate(lines, 1):
        moves = " ".join(write_moves(game, state, line.actions))
        chances = f" wdl {permille(line)}" if wdl else ""
        yield (
            f"info depth {max(1, growth.depth)} seldepth {max(growth.max_depth, len(line.actions))}"
            f" multipv {rank} score {score(line)}{chances} {end}"
            f" time {round(1000 * seconds)} pv {moves}"
        )
