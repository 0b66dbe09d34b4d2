"""How fast a machine plays and learns with the settings of a run: short pieces of the real work."""

import time
from collections.abc import Callable

import torch

from rookery.games import Game
from rookery.gpu import data_device
from rookery.replay import ReplayConfig, Window, new_rows
from rookery.training.config import Config
from rookery.training.parts import new_learner, new_self_player, new_window
from rookery.training.store.origin import new_net

ROWS = 20_000
SEED = 1


def play_speed(game: Game, config: Config, *, device: torch.device, seconds: float) -> float:
    """Return the simulations per second of self-play, search included."""
    net = new_net(config, game).to(data_device(device))
    player = new_self_player(
        game, config, net, device=device, backend=config.run.inference, seed=SEED
    )

    def play_move() -> int:
        return player.start(1, progress=0.0, iteration=0)(_nothing).report.simulations

    return _per_second(play_move, seconds)


def learn_speed(game: Game, config: Config, *, device: torch.device, seconds: float) -> float:
    """Return the rows per second of learning, from the window to the averaged weights."""
    device = data_device(device)
    learner = new_learner(
        game,
        new_net(config, game).to(device),
        config.learning,
        device=device,
        seed=SEED,
        on_smaller_parts=lambda smaller: None,
    )
    window = filled_window(game, device)

    def update() -> int:
        learner.learn(window, 1, progress=0.0, check=_nothing)
        learner.drain()
        return config.learning.batch_size

    return _per_second(update, seconds)


def _per_second(work: Callable[[], int], seconds: float) -> float:
    """Return what `work` achieves per second; its first call, which prepares, is not counted."""
    work()
    begin, done = time.perf_counter(), 0
    while True:
        done += work()
        passed = time.perf_counter() - begin
        if passed >= seconds:
            return done / passed


def filled_window(game: Game, device: torch.device) -> Window:
    """Return a window of the first position with even targets; learning costs the same."""
    rows = new_rows(game, ROWS)
    first = game.new_states(1)[0]
    legal = game.legal_actions(first)
    rows.states[:] = first
    rows.num_legal[:] = len(legal)
    rows.legal[:, : len(legal)] = legal
    rows.policy[:] = 1
    window = new_window(game, ReplayConfig(window_min=ROWS, window_max=ROWS), device)
    window.add(rows)
    return window


def _nothing() -> None:
    """Let the work go on."""
