"""Random games of chess by our rules: a thread each on a GPU, or one after another on a core."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numba
import numpy as np
import torch
from numpy.typing import NDArray

from rookery.base import Index, compiled, namespace, seeds, uniform
from rookery.games import (
    ONGOING,
    Game,
    Repetitions,
    State,
    States,
    bind_repetitions,
    load_game,
    new_repetitions,
)
from rookery.gpu import copy_in, cuda, find_device, kernel, launch, use_device, zeros

FIFTY_MOVES = 100  # plies
Run = Callable[[int], None]
"""Makes so many steps in all games, and waits for them."""


@compiled
def draw(legal: NDArray[np.int32], count: Index, streams: NDArray[np.uint64]) -> Index:
    """One of the first `count` actions of `legal`."""
    return np.int64(legal[min(int(uniform(streams, 0) * np.float32(count)), count - 1)])


def bind_step(rules: ModuleType, *, whole: bool) -> ModuleType:
    """`step(state, legal, streams, memory, g)`: a random move, by all of the rules or by few."""
    repeats = bind_repetitions(rules)

    @compiled
    def step_whole(
        state: State, legal: Any, streams: Any, repetitions: Repetitions, g: Index
    ) -> None:
        """As games of self-play go: remembered, and over when the rules say so."""
        count = rules.legal(state, legal)
        repeats.play(repetitions, state, draw(legal, count, streams), g)
        if rules.outcome(state) != ONGOING:
            rules.start(state)
            repetitions.counts[g] = 0

    @compiled
    def step_bare(
        state: State, legal: Any, streams: Any, repetitions: Repetitions, g: Index
    ) -> None:
        """Legal moves and making one, no more."""
        count = rules.legal(state, legal)
        if count == 0 or rules.reversible_plies(state) >= FIFTY_MOVES:
            rules.start(state)
        else:
            rules.play(state, draw(legal, count, streams))

    name = f"{rules.__name__}.{'whole' if whole else 'bare'}"
    return namespace(name, {"step": step_whole if whole else step_bare})


def bind_kernel(rules: Game, *, whole: bool) -> Any:
    """`play(states, streams, memory, steps)` on a GPU; a thread keeps its game to itself."""
    one, most = bind_step(rules.rules, whole=whole), rules.max_legal
    record: Any = numba.from_dtype(rules.state_dtype)
    if numba.config.ENABLE_CUDASIM:
        record = rules.blank_states(1).dtype  # whose fields have names when interpreted

    @kernel
    def play(states: States, streams: Any, repetitions: Repetitions, steps: Index) -> None:
        g = cuda.grid(1)
        if g < states.shape[0]:
            state = cuda.local.array(1, record)
            legal = cuda.local.array(most, numba.int32)
            stream = cuda.local.array(1, numba.uint64)
            state[0] = states[g]
            stream[0] = streams[g]
            for _ in range(steps):
                one.step(state[0], legal, stream, repetitions, np.int64(g))
            states[g] = state[0]
            streams[g] = stream[0]

    return play


def on_gpu(games: int, *, whole: bool, device_name: str) -> Run:
    """`games` games on a GPU."""
    rules, device = load_game("chess"), find_device(device_name)
    use_device(device)
    play = bind_kernel(rules, whole=whole)
    states, streams = zeros(device, rules.state_dtype, games), zeros(device, np.uint64, games)
    keys, counts = (
        zeros(device, np.uint64, games, rules.repetition_window),
        zeros(device, np.int64, games),
    )
    copy_in(states, rules.new_states(games))
    copy_in(streams, seeds(games, 0, "random play"))

    def run(steps: int) -> None:
        launch(play, games, states, streams, Repetitions(keys, counts), np.int64(steps))
        torch.cuda.synchronize()

    return run


def on_core(games: int, *, whole: bool) -> Run:
    """`games` games on one core."""
    rules = load_game("chess")
    one = bind_step(rules.rules, whole=whole)
    states, repetitions = rules.new_states(games), new_repetitions(rules, games)
    streams, legal = seeds(games, 0, "random play"), np.zeros(rules.max_legal, np.int32)

    @compiled
    def play(
        states: States, legal: Any, streams: Any, repetitions: Repetitions, steps: Index
    ) -> None:
        for g in range(states.shape[0]):
            for _ in range(steps):
                one.step(states[g], legal, streams[g : g + 1], repetitions, np.int64(g))

    return lambda steps: play(states, legal, streams, repetitions, np.int64(steps))
