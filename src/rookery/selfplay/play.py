"""Games against oneself: search every position, make a move, hand over what has ended."""

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rookery.base import seeds
from rookery.games import ONGOING, Game, GameRecord
from rookery.search import CpuSearch, Evaluator, SearchConfig
from rookery.selfplay.config import SelfPlayConfig
from rookery.selfplay.history import new_history, to_record
from rookery.selfplay.kernels import Moves, bind, selfplay_params
from rookery.selfplay.openings import FEWEST_ROWS
from rookery.selfplay.report import SelfPlayReport


class SelfPlay:
    """`config.games` games in step, each begun anew when it ends."""

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
        self._manner = selfplay_params(config, game)
        streams = seeds(config.games, seed, "selfplay")
        num_rows = max(FEWEST_ROWS, config.longest_game(game))
        self._history = new_history(game, config.games, num_rows, streams)
        self._roots = game.blank_states(config.games)
        self._kernels = bind(game.rules)
        self._restart(np.arange(config.games))

    def play(
        self, moves: int, *, progress: float, check: Callable[[], None] = lambda: None
    ) -> tuple[list[GameRecord], SelfPlayReport]:
        """Make `moves` moves in every game; `check` is called after each and may raise to stop."""
        begun, evaluated = time.perf_counter(), self._search.evaluations
        checks, errors = self._history.checks.sum(), self._history.errors.sum()
        simulations = self.config.simulations_at(progress)
        records: list[GameRecord] = []
        for _ in range(moves):
            records += self._move(simulations)
            check()
        positions = moves * self.config.games
        return records, SelfPlayReport(
            games=len(records),
            positions=positions,
            simulations=positions * simulations,
            evaluations=self._search.evaluations - evaluated,
            seconds=time.perf_counter() - begun,
            mean_length=_mean([len(record) + record.first_ply for record in records]),
            first_wins=_mean([_first_player(record) > 0 for record in records]),
            draws=_mean([record.result == 0 for record in records]),
            duplicate_games=_duplicates(records),
            resign_checks=int(self._history.checks.sum() - checks),
            resign_errors=int(self._history.errors.sum() - errors),
        )

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that the next move depends on, but for the net."""
        arrays = {f"history.{name}": array for name, array in self._history._asdict().items()}
        repetitions = {
            f"memory.{name}": kept for name, kept in self._search.repetitions._asdict().items()
        }
        return {**arrays, **repetitions, "roots": self._roots, "streams": self._search.tree.streams}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from what `state` returned."""
        for name, array in self.state().items():
            array[...] = state.get(name, 0)  # `firsts` and `memory` are newer than some runs

    def _move(self, simulations: int) -> list[GameRecord]:
        self._search.roots[:] = self._roots
        decisions = self._search.run(simulations)
        moves = Moves(decisions.actions, decisions.legal_policy, decisions.values)
        self._kernels.advance(
            self._history, self._roots, self._search.repetitions, moves, self._manner
        )
        ended = np.flatnonzero(self._history.results != ONGOING)
        records = [to_record(self._history, int(g)) for g in ended]
        self._restart(ended)
        return records

    def _restart(self, games: NDArray[Any]) -> None:
        repetitions = self._search.repetitions
        self._kernels.restart(self._history, self._roots, repetitions, self._manner, games)


def _mean(numbers: list[Any]) -> float:
    return float(np.mean(numbers)) if numbers else 0.0


def _first_player(record: GameRecord) -> int:
    return record.result if record.first_ply % 2 == 0 else -record.result


def _duplicates(records: list[GameRecord]) -> float:
    distinct = len({record.fingerprint() for record in records})
    return 1.0 - distinct / len(records) if records else 0.0
