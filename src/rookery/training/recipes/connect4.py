"""Connect Four."""

from rookery.learning import LearningConfig
from rookery.nets import NetConfig
from rookery.replay import ReplayConfig
from rookery.search import SearchConfig
from rookery.selfplay import SelfPlayConfig
from rookery.training.config import Config, RunConfig


def connect4_laptop() -> Config:
    """An hour on two cores, as docs/experiments.md chose it; `--minutes` makes it longer."""
    return Config(
        game="connect4",
        recipe="connect4-laptop",
        run=RunConfig(minutes=60, moves=16, checkpoint_every=5, strength_every=25),
        net=NetConfig(width=32, depth=3),
        search=SearchConfig(c_scale=0.5),
        selfplay=SelfPlayConfig(
            games=256,
            simulations="16, 32@0.15, 64@0.7",
            temperature_plies=10,
            opening_share=0.95,
            opening_plies=24,
        ),
        replay=ReplayConfig(window_min=20_000, window_max=1_000_000),
        learning=LearningConfig(
            batch_size=128, reuse=3.0, learning_rate=2e-3, final_rate=0.05, result_mix=0.4
        ),
    )


def connect4_gpu() -> Config:
    """Five minutes on one GPU, as docs/experiments.md chose it; `--minutes` makes it longer."""
    return Config(
        game="connect4",
        recipe="connect4-gpu",
        run=RunConfig(
            minutes=5, moves=8, checkpoint_every=10, strength_every=20, strength_simulations=100
        ),
        net=NetConfig(width=128, depth=10, policy_channels=8, value_width=64),
        search=SearchConfig(c_scale=0.5),
        selfplay=SelfPlayConfig(
            games=8192,
            simulations="16, 32@0.1, 64@0.35, 100@0.7",
            temperature_plies=10,
            opening_share=0.95,
            opening_plies=24,
        ),
        replay=ReplayConfig(window_min=300_000, window_max=4_000_000),
        learning=LearningConfig(
            batch_size=1024, reuse=3.0, learning_rate=1.5e-3, final_rate=0.05, result_mix=0.4
        ),
    )
