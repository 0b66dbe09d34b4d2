"""Self-play on CPU threads: search every position, make a move, hand over finished games."""

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rookery.base import FileDamaged, plain
from rookery.games import ONGOING, Game
from rookery.replay import Rows, concatenate, new_rows
from rookery.search import NO_ACTION, CpuSearch, DecisionArrays, Evaluator, SearchConfig
from rookery.selfplay.config import SelfPlayConfig
from rookery.selfplay.drawing import MIN_ROWS
from rookery.selfplay.games import check_games, new_games
from rookery.selfplay.kernels import bind, selfplay_params
from rookery.selfplay.misjudged import MisjudgedPositions, is_misjudged
from rookery.selfplay.report import BatchCounts, Counts, Played, report_rows


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
        is_padded: bool = False,
    ) -> None:
        """`is_padded` says that the evaluator fills every batch up to `config.games` rows."""
        self.config, self.game, self._is_padded = config, game, is_padded
        self._search = CpuSearch(
            game,
            evaluator,
            config=search,
            num_games=config.games,
            max_simulations=config.max_simulations(),
            explore=True,
            seed=seed,
            is_followed=True,
        )
        self._params = selfplay_params(config, game)
        num_rows = max(MIN_ROWS, config.longest_game(game))
        self._games = new_games(game, config.games, num_rows, seed=seed)
        self._misjudged = MisjudgedPositions(
            game, config.games, share=config.misjudged_share, seed=seed
        )
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
        begun, before, batches = time.perf_counter(), self._counts(0), self._search.batches
        simulations = self.config.simulations_at(progress)
        self._search.forget()
        finished = [new_rows(self.game, 0)]
        for _ in range(moves):
            finished += self._move(simulations)
            check()
        rows = concatenate(finished)
        self._misjudged.add(rows)
        rows.iterations[:] = iteration
        after, seconds = self._counts(moves * self.config.games), time.perf_counter() - begun
        made, evaluated = self._search.batches - batches, after.evaluations - before.evaluations
        report = report_rows(
            rows,
            before,
            after,
            batches=BatchCounts(made, made * self.config.games if self._is_padded else evaluated),
            simulations=simulations,
            seconds=seconds,
        )
        return Played(rows, report)

    def state(self) -> dict[str, NDArray[Any]]:
        """Return everything that the next move depends on, except for the network."""
        return {**self._columns(), **self._misjudged.state()}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Continue from what `state` returned, or FileDamaged."""
        own = self._columns()
        different = own.keys() ^ {name for name in state if not is_misjudged(name)}
        if different:
            raise FileDamaged(f"the games in progress lack {different}; restore it")
        moves, found = own["rows.moves"], state["rows.moves"]
        if found.shape != moves.shape:
            raise FileDamaged(
                f"games in progress and their rows are {found.shape}, but {moves.shape} by "
                "selfplay.games and selfplay.max_plies; set those as they were"
            )
        arrays = [(name, plain(array), plain(state[name])) for name, array in own.items()]
        for name, target, source in arrays:
            if (source.dtype, source.shape) != (target.dtype, target.shape):
                raise FileDamaged(
                    f"the games' {name} is {source.dtype} {list(source.shape)}, expected "
                    f"{target.dtype} {list(target.shape)}; restore it from a copy"
                )
        check_games(state, self.game, moves.shape[1])
        for _, target, source in arrays:
            target[...] = source
        self._misjudged.restore(state)

    def _columns(self) -> dict[str, NDArray[Any]]:
        games, repetitions = self._games._asdict(), self._search.repetitions._asdict()
        rows = games.pop("rows")._asdict()
        return {
            **{f"rows.{name}": array for name, array in rows.items()},
            **{f"games.{name}": array for name, array in games.items()},
            **{f"repetitions.{name}": array for name, array in repetitions.items()},
            "roots": self._roots,
            "search_streams": self._search.tree.streams,
        }

    def _counts(self, positions: int) -> Counts:
        resigned = (self._games.resign_checks, self._games.resign_errors)
        return Counts(positions, self._search.evaluations, *(int(each.sum()) for each in resigned))

    def _move(self, simulations: int) -> list[Rows]:
        """Make one move in every game; return the rows of the games that it ended."""
        self._search.roots[:] = self._roots
        decisions = self._search.run(simulations)
        found = DecisionArrays(decisions.actions, decisions.legal_policy, decisions.values)
        games, repetitions = self._games, self._search.repetitions
        self._kernels.advance(games, self._roots, repetitions, found, self._params)
        lengths, is_ongoing = games.lengths, games.results == ONGOING
        moves = games.rows.moves[np.arange(len(lengths)), lengths - 1]
        self._search.follow(np.where(is_ongoing, moves, NO_ACTION))
        ended = np.flatnonzero(~is_ongoing)
        finished = [Rows(*(column[g, : lengths[g]].copy() for column in games.rows)) for g in ended]
        self._restart(ended)
        return finished

    def _restart(self, indices: NDArray[Any]) -> None:
        games, misjudged = self._games, self._misjudged.arrays
        repetitions, params = self._search.repetitions, self._params
        self._kernels.restart(games, self._roots, repetitions, misjudged, params, indices)
