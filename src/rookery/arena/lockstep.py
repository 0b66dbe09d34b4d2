"""Many games moved together: the scalar rules of a game, looped over arrays of B states."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rookery.base import compiled
from rookery.games import Action, Game, Repetitions, States, bind_repetitions, new_repetitions

Actions = NDArray[np.int32]


def legal_mask(game: Game, states: States) -> NDArray[np.bool_]:
    """[B, A] which actions are legal; the states must not be terminal."""
    mask = np.zeros((len(states), game.num_actions), np.bool_)
    _loops(game.rules).legal(states, np.zeros(game.max_legal, np.int32), mask)
    return mask


def play_each(game: Game, states: States, actions: Actions) -> None:
    """Make move actions[b] in states[b], in place; the moves must be legal."""
    _loops(game.rules).play(states, actions)


@dataclass(frozen=True)
class Past:
    """How B games came to their present positions."""

    repetitions: Repetitions
    moves: list[list[Action]]
    """Made so far, each from the first position on."""

    @classmethod
    def none(cls, game: Game, count: int) -> "Past":
        """That of `count` games that have just begun."""
        return cls(new_repetitions(game, count), [[] for _ in range(count)])

    def restart(self, games: NDArray[np.intp]) -> None:
        """Forget that of some of the games, in place."""
        self.repetitions.keys[games], self.repetitions.counts[games] = 0, 0
        for index in games.tolist():
            self.moves[index] = []

    def of(self, games: NDArray[np.intp]) -> "Past":
        """That of some of the games, as a copy."""
        repetitions = Repetitions(self.repetitions.keys[games], self.repetitions.counts[games])
        return Past(repetitions, [list(self.moves[index]) for index in games])


def advance(
    game: Game, states: States, past: Past, games: NDArray[np.intp], actions: Actions
) -> None:
    """Make move actions[b] in game games[b], in place, and remember it."""
    _loops(game.rules).advance(states, past.repetitions, games, actions)
    for index, action in zip(games.tolist(), actions.tolist(), strict=True):
        past.moves[index].append(action)


def outcomes(game: Game, states: States) -> NDArray[np.int8]:
    """[B] ONGOING, WIN, DRAW or LOSS for the player to move."""
    out = np.zeros(len(states), np.int8)
    _loops(game.rules).outcomes(states, out)
    return out


def planes(game: Game, states: States) -> NDArray[np.float32]:
    """[B, P, H, W] what a net sees."""
    out = np.zeros((len(states), *game.planes_shape), np.float32)
    _loops(game.rules).planes(states, out)
    return out


def successors(game: Game, states: States) -> States:
    """The positions after every legal move of every state, terminal ones too."""
    parents, actions = np.nonzero(legal_mask(game, states))
    children = states[parents]
    play_each(game, children, actions.astype(np.int32))
    return children


def distinct(states: States) -> States:
    """Each position once."""
    rows = np.ascontiguousarray(states).view(np.uint8).reshape(len(states), states.dtype.itemsize)
    _, first = np.unique(rows, axis=0, return_index=True)
    return states[np.sort(first)]


def pick(mask: NDArray[np.bool_], stream: np.random.Generator) -> Actions:
    """[B] one action a row, drawn evenly from those that mask [B, A] allows."""
    return highest(stream.random(mask.shape), mask)


def highest(numbers: NDArray[Any], mask: NDArray[np.bool_]) -> Actions:
    """[B] the action of the highest of `numbers` [B, A] among those that mask [B, A] allows."""
    actions: Actions = np.where(mask, numbers, -np.inf).argmax(axis=1).astype(np.int32)
    return actions


@dataclass(frozen=True)
class _Loops:
    """Compiled loops over B states of one game; each writes into its last argument."""

    legal: Callable[[States, Actions, NDArray[np.bool_]], None]
    play: Callable[[States, Actions], None]
    advance: Callable[[States, Repetitions, NDArray[np.intp], Actions], None]
    outcomes: Callable[[States, NDArray[np.int8]], None]
    planes: Callable[[States, NDArray[np.float32]], None]


@cache
def _loops(rules: ModuleType) -> _Loops:
    @compiled
    def legal(states: States, scratch: Actions, mask: NDArray[np.bool_]) -> None:
        for index in range(len(states)):
            count = rules.legal(states[index], scratch)
            for action in scratch[:count]:
                mask[index, action] = True

    @compiled
    def play(states: States, actions: Actions) -> None:
        for index in range(len(states)):
            rules.play(states[index], actions[index])

    repeats = bind_repetitions(rules)

    @compiled
    def advance(
        states: States, repetitions: Repetitions, games: NDArray[np.intp], actions: Actions
    ) -> None:
        for index in range(len(games)):
            g = games[index]
            repeats.play(repetitions, states[g], actions[index], g)

    @compiled
    def outcomes(states: States, out: NDArray[np.int8]) -> None:
        for index in range(len(states)):
            out[index] = rules.outcome(states[index])

    @compiled
    def planes(states: States, out: NDArray[Any]) -> None:
        for index in range(len(states)):
            rules.planes(states[index], out[index])

    return _Loops(legal, play, advance, outcomes, planes)
