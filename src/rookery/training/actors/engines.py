"""Where an actor plays: on the CPU or on a GPU."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import torch
from torch import nn

from rookery.games import Game
from rookery.gpu import use_device
from rookery.nets import CpuEvaluator, GpuEvaluator
from rookery.replay import Samples, to_samples
from rookery.selfplay import DeviceSelfPlay, SelfPlay, SelfPlayReport
from rookery.training.config import Config

FEWEST_GAMES = 16
"""With fewer, a GPU's memory is not what is missing."""


@dataclass(frozen=True)
class Played:
    """A stretch of games against oneself."""

    samples: Samples
    """Rows of the games that ended in it; there may be none."""
    report: SelfPlayReport
    version: int
    """Of the weights it was played with."""


class ActorEngine(Protocol):
    """Where an actor plays."""

    games: int

    def load(self, net: nn.Module, version: int) -> None:
        """Play with these weights from now on."""

    def begin(self, moves: int, *, progress: float, iteration: int) -> Callable[[], Played]:
        """Begin a stretch; what is returned waits for its games."""


class CpuActorEngine:
    """Games on the CPU."""

    def __init__(
        self, config: Config, net: nn.Module, *, rules: Game, inference: str, seed: int
    ) -> None:
        self.games, self._version = config.selfplay.games, -1
        self._nothing = Samples.empty(rules)
        self._evaluator = CpuEvaluator(
            net, rules.planes_shape, backend=inference, batch_size=self.games
        )
        self._selfplay = SelfPlay(
            rules, self._evaluator, config=config.selfplay, search=config.search, seed=seed
        )

    def load(self, net: nn.Module, version: int) -> None:
        """Play with these weights from now on."""
        self._evaluator.load(net)
        self._version = version

    def begin(self, moves: int, *, progress: float, iteration: int) -> Callable[[], Played]:
        """Nothing runs ahead here: the stretch is played when its games are asked for."""

        def finish() -> Played:
            records, report = self._selfplay.play(moves, progress=progress)
            samples = Samples.from_records(records, iteration) if records else self._nothing
            return Played(samples, report, self._version)

        return finish


class GpuActorEngine:
    """Games on a GPU, which goes on with the next stretch while the last one is fetched."""

    def __init__(
        self,
        config: Config,
        net: nn.Module,
        *,
        rules: Game,
        device: torch.device,
        inference: str,
        seed: int,
    ) -> None:
        use_device(device)
        self._evaluator = GpuEvaluator(
            net.to(device), rules.planes_shape, device=device, backend=inference
        )
        self._selfplay = fit_games(config, self._evaluator, rules=rules, seed=seed)
        self.games, self._version = self._selfplay.config.games, -1

    def load(self, net: nn.Module, version: int) -> None:
        """Play with these weights from now on."""
        self._evaluator.load(net)
        self._version = version

    def begin(self, moves: int, *, progress: float, iteration: int) -> Callable[[], Played]:
        """Enqueue the stretch."""
        stretch, version = self._selfplay.start(moves, progress=progress), self._version

        def finish() -> Played:
            rows, report = self._selfplay.finish(stretch)
            self._evaluator.check()
            return Played(to_samples(rows, iteration), report, version)

        return finish


def fit_games(config: Config, evaluator: GpuEvaluator, *, rules: Game, seed: int) -> DeviceSelfPlay:
    """Self-play on a GPU with as many games as are asked for, or half as many until they fit."""
    try:
        return DeviceSelfPlay(
            rules,
            evaluator.selfplay_evaluator,
            config=config.selfplay,
            search=config.search,
            moves=config.run.moves,
            seed=seed,
        )
    except torch.cuda.OutOfMemoryError:
        fewer = config.selfplay.games // 2
        if fewer < FEWEST_GAMES:
            raise
    torch.cuda.empty_cache()
    smaller = replace(config, selfplay=replace(config.selfplay, games=fewer))
    return fit_games(smaller, evaluator, rules=rules, seed=seed)
