"""Recipes: functions that return the whole config of a run."""

from collections.abc import Callable
from dataclasses import replace

from rookery.base import UnknownName
from rookery.games import is_shipped, load_game, plain_name
from rookery.learning import LearningConfig
from rookery.nets import NetConfig
from rookery.replay import ReplayConfig
from rookery.search import SearchConfig
from rookery.selfplay import SelfPlayConfig
from rookery.training.config import Config, RunConfig


def any_game() -> Config:
    """Ten minutes of a small network, for a game that has no recipe of its own."""
    return Config(
        game="",
        recipe="any",
        run=RunConfig(minutes=10),
        selfplay=SelfPlayConfig(games=128, simulations="32", temperature_plies=12),
    )


def tictactoe_demo() -> Config:
    """Half a minute of a tiny network on two cores, which then plays perfectly."""
    return Config(
        game="tictactoe",
        recipe="tictactoe-demo",
        run=RunConfig(
            iterations=10, moves=9, checkpoint_every=5, strength_every=10, strength_simulations=50
        ),
        net=NetConfig(width=32, depth=2),
        selfplay=SelfPlayConfig(games=256, simulations="16", opening_share=0.8, opening_plies=6),
        replay=ReplayConfig(window_min=20_000, window_max=60_000),
        learning=LearningConfig(
            optimizer="muon", batch_size=256, reuse=4.0, learning_rate=5e-3, ema=0.99
        ),
    )


def connect4_laptop() -> Config:
    """An hour on two cores, as docs/experiments.md chose it; `--minutes` makes it longer."""
    return Config(
        game="connect4",
        recipe="connect4-laptop",
        run=RunConfig(
            minutes=60, moves=16, checkpoint_every=5, strength_every=25, inference="fastest"
        ),
        net=NetConfig(width=64, depth=4),
        search=SearchConfig(c_scale=0.5, proof_nodes=2000),
        selfplay=SelfPlayConfig(
            games=256,
            simulations="16, 32@0.15, 64@0.7",
            temperature_plies=10,
            opening_share=0.95,
            opening_plies=24,
            resign=0.99,
        ),
        replay=ReplayConfig(window_min=20_000, window_max=1_000_000),
        learning=LearningConfig(
            optimizer="muon",
            batch_size=128,
            reuse=3.0,
            learning_rate=2e-3,
            decay_share=0.3,
            final_rate=0.02,
            result_mix=0.4,
        ),
    )


def connect4_gpu() -> Config:
    """Five minutes on one GPU, as docs/experiments.md chose it; `--minutes` makes it longer."""
    laptop = connect4_laptop()
    return replace(
        laptop,
        recipe="connect4-gpu",
        run=RunConfig(
            minutes=5,
            moves=8,
            checkpoint_every=10,
            strength_every=20,
            strength_simulations=100,
            inference="fastest",
        ),
        net=NetConfig(width=128, depth=10, policy_channels=8, value_width=64),
        search=replace(laptop.search, proof_nodes=0),
        selfplay=replace(
            laptop.selfplay,
            games=8192,
            simulations="16, 32@0.1, 64@0.35, 100@0.7",
            misjudged_share=0.4,
            resign=0.0,
        ),
        replay=ReplayConfig(window_min=300_000, window_max=4_000_000),
        learning=replace(laptop.learning, batch_size=2048, learning_rate=4e-3),
    )


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
    """An hour on one GPU; docs/chess.md has what 17 minutes of it reached."""
    laptop = chess_laptop()
    return replace(
        laptop,
        recipe="chess-gpu",
        run=RunConfig(
            minutes=60,
            moves=8,
            checkpoint_every=50,
            strength_every=200,
            strength_simulations=0,
            inference="fastest",
        ),
        net=NetConfig(width=128, depth=6, value_width=128),
        selfplay=replace(laptop.selfplay, games=8192, simulations="16, 32@0.1, 64@0.5"),
        replay=ReplayConfig(window_min=500_000, window_max=4_000_000),
        learning=replace(
            laptop.learning,
            optimizer="muon",
            batch_size=2048,
            learning_rate=3e-3,
            decay_share=0.3,
            final_rate=0.02,
        ),
    )


RECIPES: dict[str, Callable[[], Config]] = {
    "chess-gpu": chess_gpu,
    "chess-laptop": chess_laptop,
    "connect4-gpu": connect4_gpu,
    "connect4-laptop": connect4_laptop,
    "tictactoe-demo": tictactoe_demo,
}
DEFAULTS = {"chess": "chess-laptop", "connect4": "connect4-laptop", "tictactoe": "tictactoe-demo"}
GPU_DEFAULTS = {**DEFAULTS, "chess": "chess-gpu", "connect4": "connect4-gpu"}


def recipe_for(game_name: str, recipe: str | None = None, *, on_gpu: bool = False) -> Config:
    """Return the config of `recipe` for a game, or the game's default one."""
    plain = plain_name(load_game(game_name).name)
    defaults = GPU_DEFAULTS if on_gpu else DEFAULTS
    if recipe is None and not (is_shipped(game_name) and plain in defaults):
        return replace(any_game(), game=game_name)
    name = recipe or defaults[plain]
    if name not in RECIPES:
        raise UnknownName("recipe", name, RECIPES)
    config = RECIPES[name]()
    if config.game != plain:
        fitting = [other for other, make in RECIPES.items() if make().game == plain]
        raise UnknownName(f"recipe for {plain}:", name, fitting)
    return replace(config, game=game_name)
