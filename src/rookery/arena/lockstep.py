"""Loops over the scalar rules of a game, for G states at once."""

from dataclasses import dataclass
from functools import cache
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rookery.base import compiled, generator
from rookery.games import (
    ONGOING,
    Action,
    Game,
    Repetitions,
    States,
    bind_repetitions,
    new_repetitions,
)

Actions = NDArray[np.int32]
SAMPLED_GAMES = 16


@dataclass(frozen=True)
class Histories:
    """The moves of G games and the positions that may repeat in them."""

    repetitions: Repetitions
    moves: list[list[Action]]
    """All moves of each game, from its first position on."""

    @classmethod
    def empty(cls, game: Game, count: int) -> "Histories":
        """Return the histories of `count` new games."""
        return cls(new_repetitions(game, count), [[] for _ in range(count)])

    def clear(self, games: NDArray[np.intp]) -> None:
        """Empty the histories of `games`, in place."""
        self.repetitions.keys[games], self.repetitions.counts[games] = 0, 0
        for index in games.tolist():
            self.moves[index] = []

    def select(self, games: NDArray[np.intp]) -> "Histories":
        """Return a copy of the histories of `games`."""
        repetitions = Repetitions(self.repetitions.keys[games], self.repetitions.counts[games])
        return Histories(repetitions, [list(self.moves[index]) for index in games])


def legal_mask(game: Game, states: States) -> NDArray[np.bool_]:
    """Return the legal actions as a mask [G, A]; the states must not be terminal."""
    mask = np.zeros((len(states), game.num_actions), np.bool_)
    _loops(game.rules).legal(states, np.zeros(game.max_legal, np.int32), mask)
    return mask


def play_each(game: Game, states: States, actions: Actions) -> None:
    """Play the legal move actions[g] in states[g], in place."""
    _loops(game.rules).play(states, actions)


def advance(
    game: Game, states: States, histories: Histories, games: NDArray[np.intp], actions: Actions
) -> None:
    """Play the legal move actions[i] in game games[i], in place, and add it to its history."""
    _loops(game.rules).advance(states, histories.repetitions, games, actions)
    for index, action in zip(games.tolist(), actions.tolist(), strict=True):
        histories.moves[index].append(action)


def outcomes(game: Game, states: States) -> NDArray[np.int8]:
    """Return [G] ONGOING, WIN, DRAW or LOSS for the player to move."""
    out = np.zeros(len(states), np.int8)
    _loops(game.rules).outcomes(states, out)
    return out


def planes(game: Game, states: States) -> NDArray[np.float32]:
    """Return the network's input planes [G, P, H, W]."""
    out = np.zeros((len(states), *game.planes_shape), np.float32)
    _loops(game.rules).planes(states, out)
    return out


def successors(game: Game, states: States) -> States:
    """Return the positions after every legal move of every state, terminal ones included."""
    parents, actions = np.nonzero(legal_mask(game, states))
    children = states[parents]
    play_each(game, children, actions.astype(np.int32))
    return children


def distinct(states: States) -> States:
    """Return the states without duplicates, in their order."""
    rows = np.ascontiguousarray(states).view(np.uint8).reshape(len(states), states.dtype.itemsize)
    _, first = np.unique(rows, axis=0, return_index=True)
    return states[np.sort(first)]


def random_actions(mask: NDArray[np.bool_], stream: np.random.Generator) -> Actions:
    """Return [G] actions drawn uniformly from those that mask [G, A] allows."""
    return best_actions(stream.random(mask.shape), mask)


def best_actions(scores: NDArray[Any], mask: NDArray[np.bool_]) -> Actions:
    """Return [G] the actions of the highest scores [G, A] among those that mask [G, A] allows."""
    actions: Actions = np.where(mask, scores, -np.inf).argmax(axis=1).astype(np.int32)
    return actions


def sample_states(game: Game) -> States:
    """Return positions of random games, not terminal, ply by ply; the same in every call."""
    stream, states, found = generator(0, "sample boards"), game.new_states(SAMPLED_GAMES), []
    for _ in range(game.max_plies):
        states = states[outcomes(game, states) == ONGOING]
        if not len(states):
            break
        found.append(states.copy())
        play_each(game, states, random_actions(legal_mask(game, states), stream))
    return np.concatenate(found)


def sample_boards(game: Game, count: int) -> NDArray[np.float32]:
    """Return planes [count, P, H, W] of positions from random games, spread over all plies."""
    states = sample_states(game)
    chosen = np.linspace(0, len(states) - 1, count).astype(int)
    return planes(game, states[chosen])


@cache
def _loops(rules: ModuleType) -> SimpleNamespace:
    """Return the compiled loops over the states of one game."""

    @compiled
    def legal(states: States, scratch: Actions, mask: NDArray[np.bool_]) -> None:
        for g in range(len(states)):
            count = rules.legal(states[g], scratch)
            for action in scratch[:count]:
                mask[g, action] = True

    @compiled
    def play(states: States, actions: Actions) -> None:
        for g in range(len(states)):
            rules.play(states[g], actions[g])

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
        for g in range(len(states)):
            out[g] = rules.outcome(states[g])

    @compiled
    def planes(states: States, out: NDArray[Any]) -> None:
        for g in range(len(states)):
            rules.planes(states[g], out[g])

    return SimpleNamespace(
        legal=legal, play=play, advance=advance, outcomes=outcomes, planes=planes
    )
