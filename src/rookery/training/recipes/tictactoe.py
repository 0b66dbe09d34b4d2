"""Tic-Tac-Toe: perfect play within a minute on two cores."""

from rookery.learning import LearningConfig
from rookery.nets import NetConfig
from rookery.replay import ReplayConfig
from rookery.selfplay import SelfPlayConfig
from rookery.training.config import Config, RunConfig


def tictactoe_demo() -> Config:
    """Half a minute of a tiny net on two cores."""
    return Config(
        game="tictactoe",
        recipe="tictactoe-demo",
        run=RunConfig(iterations=16, moves=9, strength_every=8, strength_simulations=50),
        net=NetConfig(width=32, depth=2),
        selfplay=SelfPlayConfig(games=256, simulations="32", opening_share=0.8, opening_plies=6),
        replay=ReplayConfig(window_min=20_000, window_max=60_000),
        learning=LearningConfig(batch_size=128, reuse=2.0, learning_rate=3e-3, ema=0.99),
    )
