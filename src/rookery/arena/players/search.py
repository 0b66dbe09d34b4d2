"""A player with a net: tree search, or at 0 simulations the bare net."""

import numpy as np
from numpy.typing import NDArray

from rookery.arena.lockstep import Past, highest, legal_mask, planes
from rookery.base import ConfigError
from rookery.games import Game, Repetitions, States, new_repetitions
from rookery.search import DeviceEvaluator, Evaluator, Search, SearchConfig, new_search

LARGEST_BATCH = 512
LARGEST_BATCH_ON_GPU = 4096
"""Games searched at once; more wait their turn, so that the trees fit in memory."""


class SearchPlayer:
    """Searches without exploring; at 0 simulations the legal move of the highest policy logit."""

    def __init__(
        self,
        game: Game,
        evaluator: Evaluator,
        *,
        config: SearchConfig,
        simulations: int,
        seed: int,
        name: str,
    ) -> None:
        if simulations < 0:
            raise ConfigError(f"simulations must be 0 (the bare net) or more, got {simulations}")
        self.name = name
        self._game = game
        self._evaluator = evaluator
        self._config = config
        self._simulations = simulations
        self._seed = seed
        is_on_gpu = isinstance(evaluator, DeviceEvaluator)
        self._largest = LARGEST_BATCH_ON_GPU if is_on_gpu else LARGEST_BATCH
        self._search: Search | None = None
        self._capacity = 0

    def choose(self, states: States, past: Past | None = None) -> NDArray[np.int32]:
        """[B] the action found best for each state."""
        decide = self._search_moves if self._simulations else self._bare_moves
        repetitions = past.repetitions if past else new_repetitions(self._game, len(states))
        chunks = [np.zeros(0, np.int32)]
        for start in range(0, len(states), self._largest):
            part = slice(start, start + self._largest)
            chunks.append(
                decide(states[part], Repetitions(repetitions.keys[part], repetitions.counts[part]))
            )
        return np.concatenate(chunks)

    def _search_moves(self, states: States, repetitions: Repetitions) -> NDArray[np.int32]:
        search = self._search_for(len(states))
        search.roots[: len(states)] = states
        search.repetitions.keys[: len(states)] = repetitions.keys
        search.repetitions.counts[: len(states)] = repetitions.counts
        return search.run(self._simulations, len(states)).actions

    def _bare_moves(self, states: States, repetitions: Repetitions) -> NDArray[np.int32]:
        logits, _ = self._evaluator(planes(self._game, states))
        return highest(logits, legal_mask(self._game, states))

    def _search_for(self, count: int) -> Search:
        """The trees, made anew whenever more games come than ever before."""
        if self._search is None or count > self._capacity:
            self._capacity = count
            self._search = new_search(
                self._game,
                self._evaluator,
                config=self._config,
                num_games=count,
                max_simulations=self._simulations,
                explore=False,
                seed=self._seed,
            )
        return self._search
