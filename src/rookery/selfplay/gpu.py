"""Self-play on a GPU: the host replays waves and fetches the games that have ended."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rookery.base import MALFORMED, FileDamaged
from rookery.games import Game
from rookery.gpu import Graph, Stopwatch, as_tensor, launch, view, zeros
from rookery.replay import Rows, fetch, new_rows
from rookery.search import DeviceEvaluator, GpuTrees, SearchConfig, visit_table
from rookery.selfplay.config import SelfPlayConfig
from rookery.selfplay.drawing import MIN_ROWS
from rookery.selfplay.games import check_games, new_games
from rookery.selfplay.gpu_kernels import Arena, Schedule, bind
from rookery.selfplay.kernels import selfplay_params
from rookery.selfplay.misjudged import MisjudgedPositions
from rookery.selfplay.packing import pack_games, unpack_games
from rookery.selfplay.report import BatchCounts, Counts, Played, report_rows

WAVES = 8
"""Waves per graph; games that have ended wait for the next one."""
SPARE = 2
"""A game has rows for this many of the longest games and of the moves between collections."""


@cache
def _copy_stream(device: torch.device) -> torch.cuda.Stream:
    """Return a stream beside the one that computes."""
    return torch.cuda.Stream(device)


class FinishedRows:
    """A buffer that the GPU fills with finished games while the host does something else."""

    def __init__(self, game: Game, capacity: int, device: torch.device) -> None:
        self._rows = new_rows(game, capacity, device=device)
        self._used = torch.zeros(2, dtype=torch.int64, device=device)
        self._counts = torch.zeros(6, dtype=torch.int64, pin_memory=device.type == "cuda")
        self._is_filled = torch.cuda.Event() if device.type == "cuda" else None

    def fill(self, collect: Callable[[Rows, Any], None], *counters: Tensor) -> None:
        """Enqueue `collect(rows, used)`, and the copy of the counts to the host.

        `counters` [G] are the `Counts` of each game.
        """
        self._used.zero_()
        collect(self._rows, view(self._used))
        counts = torch.cat([self._used, torch.stack([each.sum() for each in counters])])
        self._counts.copy_(counts, non_blocking=True)
        if self._is_filled is not None:
            self._is_filled.record()

    def fetch(self) -> tuple[Rows, Counts]:
        """Return the rows in host memory and the counts; wait for them alone."""
        if self._is_filled is None:
            return self._read()
        self._is_filled.synchronize()
        with torch.cuda.stream(_copy_stream(self._used.device)):
            return self._read()

    def _read(self) -> tuple[Rows, Counts]:
        _, num_rows, *counts = map(int, self._counts)
        return fetch(self._rows, num_rows), Counts(*counts)


@dataclass(frozen=True)
class Enqueued:
    """Moves of all games that were enqueued, and the games that will have ended by then."""

    finished: FinishedRows
    batches: int
    simulations: int
    stopwatch: Stopwatch


class GpuSelfPlay:
    """`config.games` games, each at its own pace; each is restarted when it ends."""

    def __init__(
        self,
        game: Game,
        evaluator: DeviceEvaluator,
        *,
        config: SelfPlayConfig,
        search: SearchConfig,
        moves: int,
        seed: int,
    ) -> None:
        """`moves` is about how many moves a game makes between two collections."""
        self.config, self._game, self._device = config, game, evaluator.device
        self._trees = GpuTrees(
            game,
            evaluator,
            config=search,
            explore=True,
            num_games=config.games,
            max_simulations=config.max_simulations(),
            seed=seed,
            is_followed=True,
        )
        self._kernels = bind(game.rules, search.method, proves_leaves=search.proves_leaves)
        self._is_done = zeros(self._device, np.bool_, config.games)
        self._positions = torch.zeros(config.games, dtype=torch.int64, device=self._device)
        self._longest = max(MIN_ROWS, config.longest_game(game))
        self._misjudged = MisjudgedPositions(
            game, config.games, share=config.misjudged_share, seed=seed, device=self._device
        )
        self._arena = self._new_arena(search.considered, SPARE * (self._longest + moves), seed)
        capacity = config.games * (self._longest + moves)
        self._finished = [FinishedRows(game, capacity, self._device) for _ in range(2)]
        self._graph = Graph(self._waves, self._device)
        self._positions.zero_()  # the capture's own waves are not counted
        self._trees.evaluations.zero_()
        self._counts, self._batches = Counts(0, 0, 0, 0), 0

    def start(self, moves: int, *, progress: float, iteration: int) -> Enqueued:
        """Enqueue about `moves` moves of every game; two such calls may be unfinished."""
        stopwatch, before = Stopwatch(self._device), self._batches
        simulations = self.play_waves(moves, progress=progress)
        finished = self.collect(iteration)
        stopwatch.stop()
        return Enqueued(finished, self._batches - before, simulations, stopwatch)

    def finish(self, enqueued: Enqueued) -> Played:
        """Return the games that have ended, in host memory; wait for the device."""
        rows, counts = enqueued.finished.fetch()
        self._misjudged.add(rows)
        before, self._counts = self._counts, counts
        report = report_rows(
            rows,
            before,
            counts,
            batches=BatchCounts(enqueued.batches, enqueued.batches * self.config.games),
            simulations=enqueued.simulations,
            seconds=enqueued.stopwatch.seconds(),
        )
        return Played(rows, report)

    def play_waves(self, moves: int, *, progress: float) -> int:
        """Enqueue waves for about `moves` moves of every game; return the simulations per move."""
        step = self.config.step_at(progress)
        simulations = self.config.schedule()[step][1]
        as_tensor(self._arena.schedule.step).fill_(step)
        for replay in range(-(-moves * simulations // WAVES)):
            self._graph()
            self._batches += WAVES
            if replay == 0:
                self._trees.adapt()
        return simulations

    def collect(self, iteration: int) -> FinishedRows:
        """Enqueue gathering the games that have ended; the collection before last is given up."""
        self._finished.reverse()
        games = self._arena.games
        resigned = [as_tensor(each) for each in (games.resign_checks, games.resign_errors)]

        def gather(rows: Any, used: Any) -> None:
            self._launch("collect", games, rows, used, iteration)

        self._finished[0].fill(gather, self._positions, self._trees.evaluations, *resigned)
        return self._finished[0]

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the games in progress and all random streams; searches begin again."""
        return {**pack_games(self._columns()), **self._misjudged.state()}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Continue from what `state` returned, or FileDamaged."""
        games = self._arena.games
        check_games(state, self._game, games.rows.moves.shape[1])
        try:
            unpack_games(self._columns(), state)
        except (RuntimeError, *MALFORMED) as error:
            raise FileDamaged("the games in progress are not whole; restore it") from error
        self._misjudged.restore(state)
        checks, errors = (
            int(as_tensor(each).sum()) for each in (games.resign_checks, games.resign_errors)
        )
        self._counts = self._counts._replace(resign_checks=checks, resign_errors=errors)
        self._launch("begin", self._arena)

    def _waves(self) -> None:
        self._launch("renew", self._arena, self._longest)
        for _ in range(WAVES):
            self._launch("find_done", self._arena, self._is_done)
            arguments = (self._arena, self._is_done, self._trees.needs_net)
            launch(self._kernels.step, 2 * self.config.games, *arguments)
            self._trees.evaluate()

    def _launch(self, name: str, *arguments: Any) -> None:
        launch(getattr(self._kernels, name), self.config.games, *arguments)

    def _columns(self) -> dict[str, Any]:
        games, tree = self._arena.games._asdict(), self._arena.tree
        rows = games.pop("rows")._asdict()
        return {
            **{f"rows.{name}": column for name, column in rows.items()},
            **{f"games.{name}": column for name, column in games.items()},
            "repetitions.keys": tree.past,
            "repetitions.counts": tree.past_counts,
            "roots": self._arena.roots,
            "search_streams": tree.streams,
            "step": self._arena.schedule.step,
        }

    def _new_arena(self, considered: int, num_rows: int, seed: int) -> Arena:
        count, game, trees = self.config.games, self._game, self._trees
        return Arena(
            tree=trees.tree,
            settings=trees.settings,
            games=new_games(game, count, num_rows, seed=seed, device=self._device),
            misjudged=self._misjudged.arrays,
            roots=zeros(self._device, game.state_dtype, count),
            found=trees.decisions,
            params=selfplay_params(self.config, game),
            schedule=self._new_schedule(considered),
            positions=view(self._positions),
        )

    def _new_schedule(self, considered: int) -> Schedule:
        counts = np.array([count for _, count in self.config.schedule()], np.int32)
        tables = np.zeros((len(counts), considered + 1, counts.max()), np.int32)
        for table, count in zip(tables, counts, strict=True):
            table[:, :count] = visit_table(considered, int(count))
        return Schedule(
            simulations=view(torch.from_numpy(counts).to(self._device)),
            tables=view(torch.from_numpy(tables).to(self._device)),
            step=zeros(self._device, np.int32, 1),
            step_of_game=zeros(self._device, np.int32, self.config.games),
        )
