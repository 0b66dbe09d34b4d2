"""For a game that has no recipe of its own: small, and without claims."""

from rookery.selfplay import SelfPlayConfig
from rookery.training.config import Config, RunConfig


def any_game() -> Config:
    """Ten minutes of a small net."""
    return Config(
        game="",
        recipe="any",
        run=RunConfig(minutes=10),
        selfplay=SelfPlayConfig(games=128, simulations="32", temperature_plies=12),
    )
