"""The plain opponent of every game: alpha-beta to a fixed depth, value 0 at the horizon.

Compiled without recursion: the line being looked at lies in a stack of states, one a level,
the root at level 0. Beside each state lies a frame of four numbers.
"""

from collections.abc import Callable
from functools import cache
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from rookery.arena.lockstep import Past, legal_mask, pick
from rookery.base import ConfigError, compiled, generator, namespace
from rookery.games import ONGOING, Game, States

FAR = 1 << 20
"""A win at level n is worth FAR - n, so that the faster one is preferred."""

VALUE, CEILING, CURSOR, COUNT = 0, 1, 2, 3
"""Columns of a frame: the best value so far for the player to move there; the value from which
the opponent would avoid the state; the next move to look at; the number of moves."""

Table = NDArray[np.int32]
Scorer = Callable[[States, States, Table, Table, Table], None]


class MinimaxPlayer:
    """Looks `depth` plies ahead; draws evenly from the moves that come out best."""

    def __init__(self, game: Game, depth: int, *, seed: int) -> None:
        if depth < 1:
            raise ConfigError(f"minimax looks at least 1 ply ahead, got a depth of {depth}")
        self.name = f"minimax:{depth}"
        self._game = game
        self._depth = depth
        self._stream = generator(seed, "arena/minimax", depth)

    def choose(self, states: States, past: Past | None = None) -> NDArray[np.int32]:
        """[B] an action of the best value for each state."""
        scores = self._scores(states)
        scores[~legal_mask(self._game, states)] = -2 * FAR
        return pick(scores == scores.max(axis=1, keepdims=True), self._stream)

    def _scores(self, states: States) -> Table:
        """[B, A] exact for the best actions, for the other legal ones anything lower."""
        game, levels = self._game, self._depth + 1
        scores = np.zeros((len(states), game.num_actions), np.int32)
        moves = np.zeros((levels, game.max_legal), np.int32)
        frames = np.zeros((levels, 4), np.int32)
        _scorer(game.rules)(states, game.blank_states(levels), moves, frames, scores)
        return scores


@cache
def _scorer(rules: ModuleType) -> Scorer:
    """The kernel for one game; its parts are namespaces, so that each is cached."""

    @compiled
    def step_down(stack: States, moves: Table, frames: Table, level: int, action: int) -> None:
        """Enter the state after `action`, with the window turned to the other player's view."""
        below = level + 1
        stack[below] = stack[level]
        rules.play(stack[below], action)
        frames[below, VALUE] = -frames[level, CEILING]
        frames[below, CEILING] = -frames[level, VALUE]
        frames[below, CURSOR] = 0
        frames[below, COUNT] = 0
        outcome = rules.outcome(stack[below])
        if outcome != ONGOING:
            frames[below, VALUE] = outcome * (FAR - below)
        elif below == len(stack) - 1:
            frames[below, VALUE] = 0
        else:
            frames[below, COUNT] = rules.legal(stack[below], moves[below])

    steps = namespace(f"minimax.steps.{rules.__name__}", vars(rules) | {"step_down": step_down})

    @compiled
    def value_of(stack: States, moves: Table, frames: Table, action: int, floor: int) -> int:
        """What `action` at the root is worth, exact above `floor`, else `floor`."""
        frames[0, VALUE] = floor
        frames[0, CEILING] = FAR
        steps.step_down(stack, moves, frames, 0, action)
        level = 1
        while level > 0:
            frame = frames[level]
            if frame[CURSOR] < frame[COUNT] and frame[VALUE] < frame[CEILING]:
                frame[CURSOR] += 1
                steps.step_down(stack, moves, frames, level, moves[level, frame[CURSOR] - 1])
                level += 1
            else:
                level -= 1
                frames[level, VALUE] = max(frames[level, VALUE], -frame[VALUE])
        return int(frames[0, VALUE])

    lines = namespace(f"minimax.lines.{rules.__name__}", vars(steps) | {"value_of": value_of})

    @compiled
    def score(states: States, stack: States, moves: Table, frames: Table, scores: Table) -> None:
        """Fill scores [B, A]; a move that is not worth the best so far is cut short."""
        for index in range(len(states)):
            stack[0] = states[index]
            best = -FAR
            for number in range(lines.legal(stack[0], moves[0])):
                action = moves[0, number]
                value = lines.value_of(stack, moves, frames, action, best - 1)
                scores[index, action] = value
                best = max(best, value)

    return score
