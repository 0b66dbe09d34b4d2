"""Recipes: functions that return the whole config of a run. One file a game."""

from collections.abc import Callable
from dataclasses import replace

from rookery.base import UnknownName
from rookery.games import is_shipped, load_game, plain_name
from rookery.training.config import Config
from rookery.training.recipes.any import any_game
from rookery.training.recipes.chess import chess_gpu, chess_laptop
from rookery.training.recipes.connect4 import connect4_gpu, connect4_laptop
from rookery.training.recipes.tictactoe import tictactoe_demo

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
    """The config of `recipe` for a game, or the game's default one."""
    plain = plain_name(load_game(game_name).name)
    if not is_shipped(game_name) and recipe is None:
        return replace(any_game(), game=game_name)
    name = recipe or (GPU_DEFAULTS if on_gpu else DEFAULTS)[plain]
    if name not in RECIPES:
        raise UnknownName("recipe", name, RECIPES)
    config = RECIPES[name]()
    if config.game != plain:
        fitting = [other for other, make in RECIPES.items() if make().game == plain]
        raise UnknownName(f"recipe for {plain}:", name, fitting)
    return replace(config, game=game_name)


__all__ = ["DEFAULTS", "GPU_DEFAULTS", "RECIPES", "recipe_for"]
