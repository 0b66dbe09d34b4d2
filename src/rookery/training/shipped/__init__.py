"""Networks that are bundled with Rookery, to play against at once.

docs/connect4.md and docs/chess.md say how they were trained, by which commands and when, and how
strong they are.
"""

from pathlib import Path

from rookery.base import ConfigError
from rookery.games import Game
from rookery.nets import Weights, load
from rookery.search import SearchConfig
from rookery.training.recipes import GPU_DEFAULTS, RECIPES
from rookery.training.store.origin import game_spec

FOLDER = Path(__file__).parent


def shipped_names() -> tuple[str, ...]:
    """The games that a net comes with."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.safetensors")))


def load_shipped(game: Game) -> Weights:
    """The net that comes with `game`."""
    if game.name not in shipped_names():
        raise ConfigError(f"no net comes with {game.name}; train one: rookery train {game.name}")
    return load(FOLDER / f"{game.name}.safetensors", game_spec(game))


def shipped_search(game: Game) -> SearchConfig:
    """The search that it was trained with."""
    return RECIPES[GPU_DEFAULTS[game.name]]().search
