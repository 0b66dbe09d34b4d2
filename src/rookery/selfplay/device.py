"""Games against oneself on a GPU: the host replays waves and fetches the games that have ended."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from rookery.base import seeds
from rookery.games import Game
from rookery.gpu import Graph, Stopwatch, as_tensor, copy_in, launch, view, zeros
from rookery.replay import DeviceRows
from rookery.search import DeviceEvaluator, GpuTrees, SearchConfig, visit_table
from rookery.selfplay.config import SelfPlayConfig
from rookery.selfplay.cuda import Plan, Stage, bind
from rookery.selfplay.harvest import Counts, Harvest, new_marks
from rookery.selfplay.history import History, layout
from rookery.selfplay.keeping import pack_games, unpack_games
from rookery.selfplay.kernels import Moves, selfplay_params
from rookery.selfplay.openings import FEWEST_ROWS
from rookery.selfplay.report import SelfPlayReport, report_rows

WAVES = 8
"""Waves a graph; games that have ended wait for the next one."""
SPARE = 2
"""A place has rows for so many of the longest games and of the moves between collections."""


@dataclass(frozen=True)
class Stretch:
    """Moves of all games that were enqueued, and the games that will have ended by then."""

    harvest: Harvest
    simulations: int
    watch: Stopwatch


class DeviceSelfPlay:
    """`config.games` games, each by its own clock, each begun anew when it ends."""

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
        )
        self._kernels = bind(game.rules, search.method)
        self._is_done = zeros(self._device, np.bool_, config.games)
        self._turns = torch.zeros(config.games, dtype=torch.int64, device=self._device)
        self._longest = max(FEWEST_ROWS, config.longest_game(game))
        num_rows = SPARE * (self._longest + moves)
        self._stage = self._new_stage(search.considered, num_rows, seed)
        room = config.games * (self._longest + moves)
        self._harvests = [Harvest(game, room, self._device) for _ in range(2)]
        self._graph = Graph(self._waves, self._device)
        self._turns.zero_()  # the capture's own waves are not counted
        self._trees.evaluations.zero_()
        self._counts = Counts(0, 0, 0, 0, 0, 0)

    def start(self, moves: int, *, progress: float) -> Stretch:
        """Enqueue about `moves` moves of every game and the harvest; two may be under way."""
        watch = Stopwatch(self._device)
        simulations = self.play(moves, progress=progress)
        harvest = self.collect()
        watch.stop()
        return Stretch(harvest, simulations, watch)

    def finish(self, stretch: Stretch) -> tuple[DeviceRows, SelfPlayReport]:
        """The rows of the games that have ended, in the host's memory; waits for the device."""
        rows, counts = stretch.harvest.fetch()
        before, self._counts = self._counts, counts
        report = report_rows(
            rows,
            positions=counts.turns - before.turns,
            simulations=stretch.simulations,
            evaluations=counts.evaluations - before.evaluations,
            seconds=stretch.watch.seconds(),
            resign_checks=counts.checks - before.checks,
            resign_errors=counts.errors - before.errors,
        )
        return rows, report

    def play(self, moves: int, *, progress: float) -> int:
        """Enqueue waves for about `moves` moves of every game; the simulations a move."""
        step = self.config.step_at(progress)
        simulations = self.config.schedule()[step][1]
        as_tensor(self._stage.plan.now).fill_(step)
        for replay in range(-(-moves * simulations // WAVES)):
            self._graph()
            if replay == 0:
                self._trees.adapt()
        return simulations

    def collect(self) -> Harvest:
        """Enqueue gathering the games that have ended; the harvest before last is given up."""
        self._harvests.reverse()
        history = self._stage.history
        checks, errors = as_tensor(history.checks), as_tensor(history.errors)
        counters = (self._turns, self._trees.evaluations, checks, errors)
        self._harvests[0].fill(self._gather, *counters)
        return self._harvests[0]

    def state(self) -> dict[str, NDArray[Any]]:
        """The games under way and all random streams; searches under way begin anew."""
        return pack_games(self._columns())

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from what `state` returned."""
        unpack_games(self._columns(), state)
        history = self._stage.history
        checks, errors = (int(as_tensor(each).sum()) for each in (history.checks, history.errors))
        self._counts = replace(self._counts, checks=checks, errors=errors)
        self._launch("begin", self._stage)

    def _waves(self) -> None:
        self._launch("renew", self._stage, self._longest)
        for _ in range(WAVES):
            self._launch("look", self._stage, self._is_done)
            arguments = (self._stage, self._is_done, self._trees.needs_net)
            launch(self._kernels.go_on, 2 * self.config.games, *arguments)
            self._trees.evaluate()

    def _gather(self, rows: Any, used: Any) -> None:
        self._launch("collect", self._stage.history, self._stage.marks, rows, used)

    def _launch(self, name: str, *arguments: Any) -> None:
        launch(getattr(self._kernels, name), self.config.games, *arguments)

    def _columns(self) -> dict[str, Any]:
        history, marks = self._stage.history._asdict(), self._stage.marks._asdict()
        return {
            **{f"history.{name}": column for name, column in history.items()},
            **{f"marks.{name}": column for name, column in marks.items()},
            "memory.counts": self._stage.tree.past_counts,
            "memory.keys": self._stage.tree.past,
            "roots": self._stage.roots,
            "streams": self._stage.tree.streams,
            "now": self._stage.plan.now,
        }

    def _new_stage(self, considered: int, num_rows: int, seed: int) -> Stage:
        count, game, trees = self.config.games, self._game, self._trees
        arrays = layout(game, count, num_rows)
        history = History(*(zeros(self._device, dtype, *shape) for dtype, shape in arrays))
        copy_in(history.streams, seeds(count, seed, "selfplay"))
        return Stage(
            tree=trees.tree,
            settings=trees.settings,
            history=history,
            marks=new_marks(count, num_rows, self._device),
            roots=zeros(self._device, game.state_dtype, count),
            moves=Moves(*trees.answers),
            params=selfplay_params(self.config, game),
            plan=self._new_plan(considered),
            turns=view(self._turns),
        )

    def _new_plan(self, considered: int) -> Plan:
        counts = np.array([count for _, count in self.config.schedule()], np.int32)
        tables = np.zeros((len(counts), considered + 1, counts.max()), np.int32)
        for table, count in zip(tables, counts, strict=True):
            table[:, :count] = visit_table(considered, int(count))
        plan = Plan(
            simulations=zeros(self._device, np.int32, *counts.shape),
            tables=zeros(self._device, np.int32, *tables.shape),
            now=zeros(self._device, np.int32, 1),
            of_game=zeros(self._device, np.int32, self.config.games),
        )
        copy_in(plan.simulations, counts)
        copy_in(plan.tables, tables)
        return plan
