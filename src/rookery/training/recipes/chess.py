"""Chess."""

from rookery.learning import LearningConfig
from rookery.nets import NetConfig
from rookery.replay import ReplayConfig
from rookery.search import SearchConfig
from rookery.selfplay import SelfPlayConfig
from rookery.training.config import Config, RunConfig


def chess_laptop() -> Config:
    """A night on two cores; docs/experiments.md has what its first 42 minutes reached."""
    return Config(
        game="chess",
        recipe="chess-laptop",
        run=RunConfig(
            minutes=600, moves=16, checkpoint_every=5, strength_every=400, strength_simulations=8
        ),
        net=NetConfig(width=32, depth=4, value_width=64),
        search=SearchConfig(c_scale=0.5),
        selfplay=SelfPlayConfig(
            games=128,
            simulations="16, 32@0.5",
            temperature_plies=30,
            opening_share=0.5,
            opening_plies=8,
            max_plies=300,
            resign=0.97,
            resign_check=0.2,
        ),
        replay=ReplayConfig(window_min=20_000, window_max=500_000),
        learning=LearningConfig(
            batch_size=256, reuse=2.0, learning_rate=2e-3, final_rate=0.05, result_mix=0.5
        ),
    )


def chess_gpu() -> Config:
    """An hour on one GPU; docs/chess.md has what its first minutes reached."""
    return Config(
        game="chess",
        recipe="chess-gpu",
        run=RunConfig(minutes=60, moves=8, checkpoint_every=50, strength_every=0),
        net=NetConfig(width=128, depth=6, value_width=128),
        search=SearchConfig(c_scale=0.5),
        selfplay=SelfPlayConfig(
            games=8192,
            simulations="16, 32@0.2, 64@0.75",
            temperature_plies=30,
            opening_share=0.5,
            opening_plies=8,
            max_plies=300,
            resign=0.97,
            resign_check=0.2,
        ),
        replay=ReplayConfig(window_min=500_000, window_max=4_000_000),
        learning=LearningConfig(
            batch_size=2048, reuse=2.0, learning_rate=1.5e-3, final_rate=0.05, result_mix=0.5
        ),
    )
