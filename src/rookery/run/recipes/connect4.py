"""Connect Four."""

from dataclasses import replace

from rookery.learning import LearningConfig
from rookery.nets import NetConfig
from rookery.replay import ReplayConfig
from rookery.run.config import Config, RunConfig
from rookery.selfplay import SelfPlayConfig


def connect4_laptop() -> Config:
    """An hour on two cores."""
    return Config(
        game="connect4",
        recipe="connect4-laptop",
        run=RunConfig(minutes=60, moves=16, checkpoint_every=10, strength_every=25),
        net=NetConfig(width=32, depth=3),
        selfplay=SelfPlayConfig(
            games=256,
            simulations="16, 32@0.3, 48@0.7",
            temperature_plies=10,
            opening_share=0.9,
            opening_plies=16,
        ),
        replay=ReplayConfig(window_min=20_000, window_max=1_000_000),
        learning=LearningConfig(
            batch_size=512, reuse=4.0, learning_rate=2e-3, final_rate=0.05, result_mix=0.4
        ),
    )


def connect4_quick() -> Config:
    """Ten minutes of the same."""
    config = connect4_laptop()
    return replace(config, recipe="connect4-quick", run=replace(config.run, minutes=10))
