"""A search as `info` lines tell it."""

import math
from collections.abc import Iterator

from rookery.games import LOSS, WIN, Action, Game, State
from rookery.search import SearchProgress, Variation

CERTAIN = 0.99999
"""The highest value, as far as centipawns are concerned."""


def centipawns(value: float) -> int:
    """A value from -1 to 1 as pawns: four make the odds of winning ten times as high."""
    value = max(-CERTAIN, min(CERTAIN, value))
    return round(400 * math.log10((1 + value) / (1 - value)))


def score(line: Variation) -> str:
    """`cp` for the player to move, or `mate` in moves where a win or a loss is proved."""
    if line.proof == WIN:
        return f"mate {(line.plies + 1) // 2}"
    if line.proof == LOSS:
        return f"mate -{line.plies // 2}"
    return f"cp {centipawns(line.value)}"


def permille(line: Variation) -> str:
    """Win, draw and loss, 1000 in all."""
    win, _, loss = (round(1000 * share) for share in line.wdl)
    return f"{win} {1000 - win - loss} {loss}"


def write_moves(game: Game, state: State, actions: tuple[Action, ...]) -> list[str]:
    """Moves from `state` on, as UCI writes them."""
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
    """One `info` for each of the best moves."""
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
