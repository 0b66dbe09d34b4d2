"""A baseline opponent for every game: alpha-beta to a fixed depth, with value 0 at the horizon.

The search is compiled without recursion. The current line is a stack of states, one per level,
with the root at level 0; each state has a frame of four numbers.
"""

from collections.abc import Callable
from functools import cache
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from rookery.arena.lockstep import Histories, legal_mask, random_actions
from rookery.base import ConfigError, compiled, generator, namespace
from rookery.games import ONGOING, Game, States

WIN_VALUE = 1 << 20
"""A win at level n has the value WIN_VALUE - n, so faster wins are better."""

ALPHA, BETA, CURSOR, COUNT = 0, 1, 2, 3
"""Columns of a frame: the best value so far for the player to move (alpha); the value from which
the opponent avoids the state (beta); the index of the next move; the number of moves."""

Table = NDArray[np.int32]
Scorer = Callable[[States, States, Table, Table, Table], None]


class MinimaxPlayer:
    """Searches `depth` plies deep and draws uniformly from the best moves."""

    def __init__(self, game: Game, depth: int, *, seed: int) -> None:
        if depth < 1:
            raise ConfigError(f"minimax searches at least 1 ply ahead, got a depth of {depth}")
        self.name = f"minimax:{depth}"
        self._game = game
        self._depth = depth
        self._stream = generator(seed, "arena/minimax", depth)

    def choose(self, states: States, histories: Histories | None = None) -> NDArray[np.int32]:
        """Return [G] actions of the best value."""
        scores = self._scores(states)
        scores[~legal_mask(self._game, states)] = -2 * WIN_VALUE
        return random_actions(scores == scores.max(axis=1, keepdims=True), self._stream)

    def _scores(self, states: States) -> Table:
        """Return scores [G, A]: exact for the best actions, any lower number for the others."""
        game, levels = self._game, self._depth + 1
        scores = np.zeros((len(states), game.num_actions), np.int32)
        moves = np.zeros((levels, game.max_legal), np.int32)
        frames = np.zeros((levels, 4), np.int32)
        _scorer(game.rules)(states, game.blank_states(levels), moves, frames, scores)
        return scores


@cache
def _scorer(rules: ModuleType) -> Scorer:
    """Return the kernel of one game; its parts are namespaces, so that each is cached."""

    @compiled
    def step_down(stack: States, moves: Table, frames: Table, level: int, action: int) -> None:
        """Push the state after `action`, with the window seen by the other player."""
        below = level + 1
        stack[below] = stack[level]
        rules.play(stack[below], action)
        frames[below, ALPHA] = -frames[level, BETA]
        frames[below, BETA] = -frames[level, ALPHA]
        frames[below, CURSOR] = 0
        frames[below, COUNT] = 0
        outcome = rules.outcome(stack[below])
        if outcome != ONGOING:
            frames[below, ALPHA] = outcome * (WIN_VALUE - below)
        elif below == len(stack) - 1:
            frames[below, ALPHA] = 0
        else:
            frames[below, COUNT] = rules.legal(stack[below], moves[below])

    steps = namespace(f"minimax.steps.{rules.__name__}", vars(rules) | {"step_down": step_down})

    @compiled
    def value_of(stack: States, moves: Table, frames: Table, action: int, floor: int) -> int:
        """Return the value of `action` at the root if it is above `floor`, else `floor`."""
        frames[0, ALPHA] = floor
        frames[0, BETA] = WIN_VALUE
        steps.step_down(stack, moves, frames, 0, action)
        level = 1
        while level > 0:
            frame = frames[level]
            if frame[CURSOR] < frame[COUNT] and frame[ALPHA] < frame[BETA]:
                frame[CURSOR] += 1
                steps.step_down(stack, moves, frames, level, moves[level, frame[CURSOR] - 1])
                level += 1
            else:
                level -= 1
                frames[level, ALPHA] = max(frames[level, ALPHA], -frame[ALPHA])
        return int(frames[0, ALPHA])

    lines = namespace(f"minimax.lines.{rules.__name__}", vars(steps) | {"value_of": value_of})

    @compiled
    def score(states: States, stack: States, moves: Table, frames: Table, scores: Table) -> None:
        """Fill scores [G, A]; the search of a move worse than the best so far is cut off."""
        for g in range(len(states)):
            stack[0] = states[g]
            best = -WIN_VALUE
            for number in range(lines.legal(stack[0], moves[0])):
                action = moves[0, number]
                value = lines.value_of(stack, moves, frames, action, best - 1)
                scores[g, action] = value
                best = max(best, value)

    return score
