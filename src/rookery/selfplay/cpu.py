"""Self-play on CPU threads: search every position, make a move, hand over finished games."""

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rookery.base import seeds
from rookery.games import ONGOING, Game
from rookery.replay import Rows, concatenate, new_rows
from rookery.search import CpuSearch, Evaluator, SearchConfig
from rookery.selfplay.config import SelfPlayConfig
from rookery.selfplay.drawing import MIN_ROWS
from rookery.selfplay.games import new_games
from rookery.selfplay.kernels import Moves, bind, selfplay_params
from rookery.selfplay.report import Played, report_rows


class CpuSelfPlay:
    """`config.games` games in lockstep; each is restarted when it ends."""

    def __init__(
        self,
        game: Game,
        evaluator: Evaluator,
        *,
        config: SelfPlayConfig,
        search: SearchConfig,
        seed: int,
    ) -> None:
        self.config, self.game = config, game
        self._search = CpuSearch(
            game,
            evaluator,
            config=search,
            num_games=config.games,
            max_simulations=config.max_simulations(),
            explore=True,
            seed=seed,
        )
        self._params = selfplay_params(config, game)
        num_rows = max(MIN_ROWS, config.longest_game(game))
        streams = seeds(config.games, seed, "selfplay")
        self._games = new_games(game, config.games, num_rows, streams=streams)
        self._roots = game.blank_states(config.games)
        self._kernels = bind(game.rules)
        self._restart(np.arange(config.games))

    def play(
        self,
        moves: int,
        *,
        progress: float,
        iteration: int,
        check: Callable[[], None] = lambda: None,
    ) -> Played:
        """Make `moves` moves in every game; `check` is called after each and may raise to stop."""
        begun, evaluated = time.perf_counter(), self._search.evaluations
        checks, errors = self._games.resign_checks.sum(), self._games.resign_errors.sum()
        simulations = self.config.simulations_at(progress)
        finished = [new_rows(self.game, 0)]
        for _ in range(moves):
            finished += self._move(simulations)
            check()
        rows = concatenate(finished)
        rows.iterations[:] = iteration
        report = report_rows(
            rows,
            positions=moves * self.config.games,
            simulations=simulations,
            evaluations=self._search.evaluations - evaluated,
            seconds=time.perf_counter() - begun,
            resign_checks=int(self._games.resign_checks.sum() - checks),
            resign_errors=int(self._games.resign_errors.sum() - errors),
        )
        return Played(rows, report)

    def state(self) -> dict[str, NDArray[Any]]:
        """Return everything that the next move depends on, except for the network."""
        games, repetitions = self._games._asdict(), self._search.repetitions._asdict()
        rows = games.pop("rows")._asdict()
        return {
            **{f"rows.{name}": array for name, array in rows.items()},
            **{f"games.{name}": array for name, array in games.items()},
            **{f"repetitions.{name}": array for name, array in repetitions.items()},
            "roots": self._roots,
            "search_streams": self._search.tree.streams,
        }

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Continue from what `state` returned."""
        for name, array in self.state().items():
            array[...] = state[name].view(array.dtype).reshape(array.shape)

    def _move(self, simulations: int) -> list[Rows]:
        """Make one move in every game; return the rows of the games that it ended."""
        self._search.roots[:] = self._roots
        decisions = self._search.run(simulations)
        moves = Moves(decisions.actions, decisions.legal_policy, decisions.values)
        rows, *others = self._games
        repetitions = self._search.repetitions
        self._kernels.advance(rows, tuple(others), self._roots, repetitions, moves, self._params)
        ended = np.flatnonzero(self._games.results != ONGOING)
        finished = [self._rows_of(int(g)) for g in ended]
        self._restart(ended)
        return finished

    def _rows_of(self, g: int) -> Rows:
        length = int(self._games.lengths[g])
        return Rows(*(column[g, :length].copy() for column in self._games.rows))

    def _restart(self, indices: NDArray[Any]) -> None:
        rows, *others = self._games
        repetitions = self._search.repetitions
        self._kernels.restart(rows, tuple(others), self._roots, repetitions, self._params, indices)
