"""Self-play on one device: in the process that learns, or in an actor."""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from numpy.typing import NDArray
from torch import nn

from rookery.games import Game
from rookery.nets import BackendChoice, CpuEvaluator, GpuEvaluator
from rookery.selfplay import CpuSelfPlay, GpuSelfPlay, Played
from rookery.training.config import Config

Arrays = Mapping[str, NDArray[Any]]
Check = Callable[[], None]
MIN_GAMES = 16
"""With fewer games, memory is not what a GPU lacks."""


class SelfPlayer(ABC):
    """Plays games on one device with the newest weights that it was given."""

    in_flight: int
    """How many started calls may be unfinished: a GPU plays one while another is read."""

    def __init__(
        self, selfplay: CpuSelfPlay | GpuSelfPlay, evaluator: CpuEvaluator | GpuEvaluator
    ) -> None:
        self.games, self.evaluator = selfplay.config.games, evaluator
        self.state, self.restore = selfplay.state, selfplay.restore

    def load(self, net: nn.Module) -> None:
        """Play with these weights from now on."""
        self.evaluator.load(net)

    @abstractmethod
    def start(self, moves: int, *, progress: float, iteration: int) -> Callable[[Check], Played]:
        """Begin to make `moves` moves in every game; call what is returned for the results."""


class CpuSelfPlayer(SelfPlayer):
    """Games on CPU threads."""

    in_flight = 0

    def __init__(self, game: Game, config: Config, evaluator: CpuEvaluator, *, seed: int) -> None:
        self._selfplay = CpuSelfPlay(
            game,
            evaluator,
            config=config.selfplay,
            search=config.search,
            seed=seed,
            is_padded=evaluator.is_padded,
        )
        super().__init__(self._selfplay, evaluator)

    def start(self, moves: int, *, progress: float, iteration: int) -> Callable[[Check], Played]:
        """Return a function that plays when it is called; it calls `check` after every move."""
        return lambda check: self._selfplay.play(
            moves, progress=progress, iteration=iteration, check=check
        )


class GpuSelfPlayer(SelfPlayer):
    """Games on a GPU, which plays on while the host reads the games that have ended."""

    in_flight = 1

    def __init__(self, game: Game, config: Config, evaluator: GpuEvaluator, *, seed: int) -> None:
        """Play as many games as the settings ask for; if they do not fit, half of those that do."""
        self._selfplay = _fit_games(game, config, evaluator, seed=seed)
        self._check = evaluator.check
        super().__init__(self._selfplay, evaluator)

    def start(self, moves: int, *, progress: float, iteration: int) -> Callable[[Check], Played]:
        """Enqueue the moves; the function that is returned waits for their games."""
        enqueued = self._selfplay.start(moves, progress=progress, iteration=iteration)

        def finish(check: Check) -> Played:
            played = self._selfplay.finish(enqueued)
            self._check()
            return played

        return finish


def _fit_games(game: Game, config: Config, evaluator: GpuEvaluator, *, seed: int) -> GpuSelfPlay:
    """Return self-play whose games fit into memory; if they are fewer, with space for learning."""
    games, did_fit = config.selfplay.games, False
    while True:
        try:
            selfplay = GpuSelfPlay(
                game,
                evaluator.selfplay_evaluator,
                config=replace(config.selfplay, games=games),
                search=config.search,
                moves=config.run.moves,
                seed=seed,
            )
        except torch.cuda.OutOfMemoryError:
            if games // 2 < MIN_GAMES:
                raise
        else:
            if did_fit or games == config.selfplay.games or games // 2 < MIN_GAMES:
                return selfplay
            did_fit = True
            del selfplay
        torch.cuda.empty_cache()
        games //= 2


@dataclass(frozen=True)
class Step:
    """What self-play brought in one step of the loop."""

    played: tuple[Played, ...]
    is_complete: bool
    """Whether this completes an iteration's worth of positions."""


class LocalSelfPlay:
    """Self-play in the process that learns, on the learner's device."""

    actors = None

    def __init__(self, player: SelfPlayer, *, kind: str, moves: int) -> None:
        """`kind` is cpu or cuda; `moves` are made by every game in one iteration."""
        self.kind = kind
        self.choice: BackendChoice = player.evaluator.choice
        self._player, self._moves = player, moves
        self._in_flight: deque[Callable[[Check], Played]] = deque()

    def play(self, iteration: int, *, progress: float, check: Check) -> Step:
        """Play one iteration; on a GPU, enqueue it and return the one before."""
        started = self._player.start(self._moves, progress=progress, iteration=iteration)
        self._in_flight.append(started)
        return Step(self._finish(self._player.in_flight, check), is_complete=True)

    def drain(self) -> tuple[Played, ...]:
        """Return what is still in flight."""
        return self._finish(0, lambda: None)

    def attend(self) -> None:
        """Look after workers while the learner learns: there are none."""

    def publish(self, net: nn.Module, version: int, weights: Callable[[], bytes]) -> None:
        """Play with new weights from now on."""
        self._player.load(net)

    def figures(self) -> dict[str, Any]:
        """Return figures of the actors for the statistics: there are none."""
        return {}

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the games in progress."""
        return self._player.state()

    def restore(self, state: Arrays) -> None:
        """Continue from what `state` returned."""
        self._player.restore(state)

    def _finish(self, kept: int, check: Check) -> tuple[Played, ...]:
        """Wait for all that is in flight but the newest `kept`."""
        number = max(0, len(self._in_flight) - kept)
        return tuple(self._in_flight.popleft()(check) for _ in range(number))
