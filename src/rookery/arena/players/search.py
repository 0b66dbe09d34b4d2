"""A player with a network: tree search, or the policy alone at 0 simulations."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rookery.arena.lockstep import Histories, best_actions, legal_mask, planes
from rookery.base import ConfigError
from rookery.games import Game, Repetitions, States, new_repetitions
from rookery.gpu import Parts
from rookery.search import DeviceEvaluator, Evaluator, Search, SearchConfig, new_search

MAX_GAMES = 512
MAX_GAMES_ON_GPU = 4096
"""Games searched at once. A larger batch is split, so that the trees fit in memory."""


class SearchPlayer:
    """Plays the move that a search without exploration finds best.

    At 0 simulations it plays the legal move with the highest policy logit.
    """

    def __init__(
        self,
        game: Game,
        evaluator: Evaluator,
        *,
        config: SearchConfig,
        simulations: int,
        seed: int,
        name: str,
        on_smaller_parts: Callable[[str], None] | None = None,
    ) -> None:
        """`on_smaller_parts` is told when a GPU has no memory for all games at once."""
        if simulations < 0:
            raise ConfigError(
                f"simulations must be 0 (the network without search) or more, got {simulations}"
            )
        self.name = name
        self._game = game
        self._evaluator = evaluator
        self._config = config
        self._simulations = simulations
        self._seed = seed
        is_on_gpu = isinstance(evaluator, DeviceEvaluator)
        largest = MAX_GAMES_ON_GPU if is_on_gpu else MAX_GAMES
        self._parts = Parts("games", largest, on_smaller=on_smaller_parts, release=self._drop_trees)
        self._search: Search | None = None
        self._capacity = 0
        self.value: float | None = None
        """The value of the state, for the player to move, if the last call had a single one."""

    def choose(self, states: States, histories: Histories | None = None) -> NDArray[np.int32]:
        """Return [G] the best actions found."""
        choose = self._search_moves if self._simulations else self._policy_moves
        repetitions = (
            histories.repetitions if histories else new_repetitions(self._game, len(states))
        )
        moves = self._parts.each(
            len(states),
            lambda part: choose(
                states[part], Repetitions(repetitions.keys[part], repetitions.counts[part])
            ),
        )
        return np.concatenate([np.zeros(0, np.int32), *moves])

    def _search_moves(self, states: States, repetitions: Repetitions) -> NDArray[np.int32]:
        search = self._search_for(len(states))
        search.roots[: len(states)] = states
        search.repetitions.keys[: len(states)] = repetitions.keys
        search.repetitions.counts[: len(states)] = repetitions.counts
        found = search.run(self._simulations, len(states))
        self.value = float(found.values[0, 0])
        return found.actions

    def _policy_moves(self, states: States, repetitions: Repetitions) -> NDArray[np.int32]:
        logits, wdl = self._evaluator(planes(self._game, states))
        self.value = float(wdl[0, 0] - wdl[0, 2])
        return best_actions(logits, legal_mask(self._game, states))

    def _drop_trees(self) -> bool:
        had_trees = self._search is not None
        self._search = None
        return had_trees

    def _search_for(self, num_games: int) -> Search:
        """Return the trees; allocate new ones when there are more games than ever before."""
        if self._search is None or num_games > self._capacity:
            self._search, self._capacity = None, num_games
            self._search = new_search(
                self._game,
                self._evaluator,
                config=self._config,
                num_games=num_games,
                max_simulations=self._simulations,
                explore=False,
                seed=self._seed,
            )
        return self._search
