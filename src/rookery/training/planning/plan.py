"""The settings of a run for this machine and this time, with the reasons for each.

The settings of a recipe were chosen by experiments, so the planner changes only those that do not
fit. It measures how fast the machine plays and learns with the network of the recipe. If that would
see too few or too many positions per weight within the time of the run, other sizes are measured,
and the one closest to POSITIONS_PER_WEIGHT is taken. Games, moves, reuse and window change if they
would waste the machine, the time or the memory.
"""

import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from math import ceil, log, sqrt
from typing import Any

import psutil
import torch

from rookery.base import available_cores
from rookery.games import Game
from rookery.nets import NetConfig, count_parameters
from rookery.replay import new_rows
from rookery.training.config import Config
from rookery.training.overlap import is_overlapped, shared_threads
from rookery.training.planning.speed import learn_speed, play_speed
from rookery.training.store.origin import new_net

POSITIONS_PER_WEIGHT = 1.5
"""Five minutes of Connect Four on an H200 were as good with 2.7 (width 128, depth 10) as with 7
(depth 6). Minutes on two cores were good with 1 to 4 (width 32), worse with less than 0.7
(width 64), and much worse with 5 (width 16), which plays hardly faster (docs/experiments.md)."""
TOLERANCE = 2.5
"""The factor by which positions per weight may be off before another network is taken."""
SIZES = (
    *((16, 2), (24, 2), (24, 3), (32, 3), (32, 5), (48, 4), (64, 5), (64, 8), (96, 6)),
    *((128, 6), (128, 10), (192, 12)),
)
"""Widths and depths of networks, each with 1.4 to 2.7 times the weights of the one before."""
MEASURING_SHARE, MEASURING_SECONDS = 0.04, (5.0, 20.0)
"""Nothing further is measured after this share of the run, within bounds; what the network of the
recipe takes does not count, because it includes compiling the game."""
PLAY_SECONDS, LEARN_SECONDS = 1.2, 0.6
USED_SHARE = 0.9
"""The rest of a run's time goes into starting, checkpoints and measuring."""
MAX_LEARNING_SHARE = 0.5
MIN_REUSE = 1.0
GAMES_SHARE = 0.05
"""The first games may end after this share of the run: until then nothing can be learned."""
FAST_ENOUGH = 0.85
"""Of the speed with twice as many games: these take twice as long to end, and the network learns
from each position twice as late. Some percent of speed are not worth that, and may be chance."""
MOST_GAMES = 4
"""Times as many as in the recipe; more might not fit into memory."""
ITERATION_SECONDS, ITERATION_SHARE = 1.0, 0.05
"""An iteration takes at least these seconds, and at most this share of the run."""
MOVES = (4, 64)
MEMORY_SHARE = 0.25
CORES_FOR_ACTORS = 4
ROUNDED = 1000


@dataclass(frozen=True)
class Choice:
    """A setting, and why it has this value."""

    name: str
    value: int | float | str
    reason: str


@dataclass(frozen=True)
class Trial:
    """A network whose speed was measured."""

    net: NetConfig
    weights: int
    simulations_per_second: float
    rows_per_second: float
    positions: int
    """Positions that a run with it would play."""

    @property
    def ideal_weights(self) -> float:
        """The weights of the ideal network, if networks are as slow as they have weights."""
        return sqrt(self.positions * self.weights / POSITIONS_PER_WEIGHT)

    @property
    def misfit(self) -> float:
        """How far its positions per weight are from the ideal, as a logarithm."""
        return abs(log(self.positions / self.weights / POSITIONS_PER_WEIGHT))

    @property
    def fits(self) -> bool:
        """Whether no other network needs to be tried."""
        return self.misfit <= log(TOLERANCE)


@dataclass(frozen=True)
class Machine:
    """What a run can use."""

    device: str
    cores: int
    memory_gb: float


@dataclass(frozen=True)
class Plan:
    """Settings of a run, with reasons, and what to expect of it."""

    recipe: str
    minutes: float
    machine: Machine
    choices: tuple[Choice, ...]
    trials: tuple[Trial, ...]
    """The networks that were measured, the smallest first."""
    positions: int
    """Positions that the run will play."""
    updates: int
    """Updates of the weights that it will make."""

    def to_plain(self) -> dict[str, Any]:
        """Return the fields of a JSON object."""
        return {**asdict(self), "trials": [_plain_trial(trial) for trial in self.trials]}

    @property
    def settings(self) -> dict[str, int | float | str]:
        """The settings by name, as `--set` and `rk.train` take them."""
        return {choice.name: choice.value for choice in self.choices}


def _plain_trial(trial: Trial) -> dict[str, Any]:
    size = {"width": trial.net.width, "depth": trial.net.depth}
    return size | {name: value for name, value in asdict(trial).items() if name != "net"}


def plan_run(
    game: Game,
    config: Config,
    *,
    device: torch.device,
    clock: Callable[[], float] = time.monotonic,
) -> Plan:
    """Measure this machine and return a plan of a run that is as long as `config` says."""
    return _Planner(game, config, device, clock).plan()


class _Planner:
    """Measures networks and makes one choice after the other."""

    def __init__(
        self, game: Game, config: Config, device: torch.device, clock: Callable[[], float]
    ) -> None:
        self.game, self.recipe, self.device = game, config, device
        self.seconds = USED_SHARE * 60 * config.run.minutes
        self.simulations = _mean_simulations(config)
        self._is_overlapped = is_overlapped(config, device)
        self._clock, self._deadline = clock, 0.0

    def plan(self) -> Plan:
        """Compile what the game needs, measure, and choose."""
        with shared_threads() if self._is_overlapped else nullcontext():
            return self._plan()

    def _plan(self) -> Plan:
        first = self._try(self.recipe.net)
        shortest, longest = MEASURING_SECONDS
        share = MEASURING_SHARE * 60 * self.recipe.run.minutes
        self._deadline = self._clock() + min(max(share, shortest), longest)
        trials = [first] if first.fits else self._trials(first)
        best = min(trials, key=lambda trial: trial.misfit)
        config = replace(self.recipe, net=best.net)
        games, speed = self._games(config, best)
        reuse = self._reuse(best.rows_per_second, speed)
        positions = self._positions(speed, best.rows_per_second, reuse)
        moves = self._moves(int(games.value), positions)
        return Plan(
            recipe=self.recipe.recipe,
            minutes=self.recipe.run.minutes,
            machine=_machine(self.device),
            choices=(
                *self._net_choices(best),
                games,
                self._simulations(),
                moves,
                *self._pauses(int(games.value) * int(moves.value)),
                *self._window(),
                reuse,
                *self._actors(),
            ),
            trials=tuple(sorted(trials, key=lambda trial: trial.weights)),
            positions=positions,
            updates=int(positions * float(reuse.value) / self.recipe.learning.batch_size),
        )

    def _trials(self, first: Trial) -> list[Trial]:
        """Measure the network that seems ideal after the last one, until it is measured."""
        nets = [replace(self.recipe.net, width=width, depth=depth) for width, depth in SIZES]
        weights = {net: self._count_weights(net) for net in {*nets, self.recipe.net}}
        trial, trials = first, {first.net: first}
        while self._clock() < self._deadline:
            ideal = trial.ideal_weights
            net = min(weights, key=lambda net: abs(log(weights[net] / ideal)))
            if net in trials:
                break
            trials[net] = trial = self._try(net)
        return list(trials.values())

    def _try(self, net: NetConfig) -> Trial:
        config = replace(self.recipe, net=net)
        played = play_speed(self.game, config, device=self.device, seconds=PLAY_SECONDS)
        learned = learn_speed(self.game, config, device=self.device, seconds=LEARN_SECONDS)
        positions = self._positions(played, learned, self._reuse(learned, played))
        return Trial(net, self._count_weights(net), played, learned, positions)

    def _count_weights(self, net: NetConfig) -> int:
        return count_parameters(new_net(replace(self.recipe, net=net), self.game))

    def _positions(self, played: float, learned: float, reuse: Choice) -> int:
        """Return how many positions are played in the time of the run."""
        playing, learning = self.simulations / played, float(reuse.value) / learned
        cost = max(playing, learning) if self._is_overlapped else playing + learning
        return max(1, int(self.seconds / cost))

    def _reuse(self, learned: float, played: float) -> Choice:
        """Choose how often each position is learned from."""
        wanted, playing = self.recipe.learning.reuse, self.simulations / played
        affordable = MAX_LEARNING_SHARE / (1 - MAX_LEARNING_SHARE) * playing * learned
        reuse = round(max(MIN_REUSE, min(wanted, affordable)), 1)
        learning = reuse / learned
        share = learning / (playing if self._is_overlapped else playing + learning)
        time = "the time of self-play, beside it" if self._is_overlapped else "the time"
        return Choice("learning.reuse", reuse, f"learning then takes {share:.0%} of {time}")

    def _net_choices(self, best: Trial) -> tuple[Choice, Choice]:
        per_weight = best.positions / best.weights
        reason = (
            f"{best.weights:,} weights and {per_weight:.1f} positions for each; the ideal is about "
            f"{POSITIONS_PER_WEIGHT:g}"
        )
        speed = f"{best.simulations_per_second:,.0f} simulations per second"
        return (
            Choice("net.width", best.net.width, reason),
            Choice("net.depth", best.net.depth, speed),
        )

    def _games(self, config: Config, best: Trial) -> tuple[Choice, float]:
        """Choose the number of games, more if that is much faster; return the speed as well."""
        games, speed = self.recipe.selfplay.games, best.simulations_per_second
        reason = "that of the recipe"
        while games < MOST_GAMES * self.recipe.selfplay.games and self._clock() < self._deadline:
            faster = self._play_speed(config, 2 * games)
            if speed < FAST_ENOUGH * faster:  # unless the machine was slow for a moment
                speed = max(speed, self._play_speed(config, games))
            if speed >= FAST_ENOUGH * faster:
                reason = f"{speed / faster:.0%} of the speed with twice as many"
                break
            games, speed, reason = 2 * games, faster, f"{faster / speed:.1f} times as fast as half"
        if games > (limit := self._most_games(speed)):
            games, reason = limit, "so that the first games end early in the run"
        return Choice("selfplay.games", games, reason), speed

    def _play_speed(self, config: Config, games: int) -> float:
        tried = replace(config, selfplay=replace(config.selfplay, games=games))
        return play_speed(self.game, tried, device=self.device, seconds=PLAY_SECONDS)

    def _most_games(self, speed: float) -> int:
        """Return how many games end within the first part of the run."""
        plies = self.recipe.selfplay.longest_game(self.game) / 2
        first = self.recipe.selfplay.simulations_at(0.0)
        return max(8, int(GAMES_SHARE * self.seconds * speed / (plies * first)))

    def _simulations(self) -> Choice:
        """Choose the simulations per move: those that experiments have shown to be good."""
        simulations = self.recipe.selfplay.simulations
        return Choice("selfplay.simulations", simulations, "those of the recipe")

    def _moves(self, games: int, positions: int) -> Choice:
        """Choose the moves of an iteration: those of the recipe, if it then takes a good time."""
        seconds_per_move = games * self.seconds / positions
        fewest = ceil(ITERATION_SECONDS / seconds_per_move)
        most = int(ITERATION_SHARE * self.seconds / seconds_per_move)
        moves = min(max(min(self.recipe.run.moves, most), fewest, MOVES[0]), MOVES[1])
        seconds = moves * seconds_per_move
        return Choice("run.moves", moves, f"new weights about every {seconds:.1f} seconds")

    def _pauses(self, positions: int) -> list[Choice]:
        """Choose how many iterations of `positions` lie between checkpoints and measurements.

        Both then take the share of the time that they take in the recipe.
        """
        run = self.recipe.run
        ratio = run.moves * self.recipe.selfplay.games / positions
        reason = "as many positions as in the recipe"
        present = {"checkpoint_every": run.checkpoint_every, "strength_every": run.strength_every}
        return [
            Choice(f"run.{name}", max(1, round(ratio * every)), reason)
            for name, every in present.items()
            if every
        ]

    def _window(self) -> tuple[Choice, Choice]:
        """Choose the window: that of the recipe, if it fits into memory."""
        row_bytes = sum(array.nbytes for array in new_rows(self.game, 1))
        fitting = _rounded(MEMORY_SHARE * _free_bytes(self.device) / row_bytes)
        window = self.recipe.replay
        first, largest = min(window.window_min, fitting), min(window.window_max, fitting)
        reason = "that of the recipe" if largest == window.window_max else "a quarter of memory"
        return (
            Choice("replay.window_min", first, "all of the first positions"),
            Choice("replay.window_max", largest, reason),
        )

    def _actors(self) -> list[Choice]:
        cores = available_cores()
        if self.device.type != "cpu" or cores < CORES_FOR_ACTORS:
            return []
        return [Choice("run.actors", "auto", f"one process does not keep {cores} cores busy")]


def _mean_simulations(config: Config) -> float:
    """Return the simulations per move, averaged over the run."""
    return sum(config.selfplay.simulations_at(share / 100) for share in range(100)) / 100


def _rounded(rows: float) -> int:
    return max(ROUNDED, round(rows / ROUNDED) * ROUNDED)


def _machine(device: torch.device) -> Machine:
    names = {"cpu": "cpu", "mps": "Apple GPU"}
    name = names.get(device.type) or torch.cuda.get_device_name(device)
    return Machine(name, available_cores(), psutil.virtual_memory().total / 2**30)


def _free_bytes(device: torch.device) -> int:
    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    return int(psutil.virtual_memory().available)
