"""A run: its config, its folder, and the loop that turns the ring."""

from rookery.run.config import Config, RunConfig, apply, from_json, setting_names, to_json
from rookery.run.contestants import Contestant
from rookery.run.folder import RunFolder
from rookery.run.identity import Identity, read_config, read_identity
from rookery.run.judging import measure_over, play_match_over
from rookery.run.loop import check_place, train
from rookery.run.moment import Moment, Stopped, Watcher
from rookery.run.origin import FirstWeights, Origin, net_game
from rookery.run.recipes import RECIPES, recipe_for
from rookery.run.shipped import load_shipped, shipped_names, shipped_search
from rookery.run.space import Space, default_space, read_space
from rookery.run.stats import Stats
from rookery.run.study import Outcome, Study

__all__ = [
    "RECIPES",
    "Config",
    "Contestant",
    "FirstWeights",
    "Identity",
    "Moment",
    "Origin",
    "Outcome",
    "RunConfig",
    "RunFolder",
    "Space",
    "Stats",
    "Stopped",
    "Study",
    "Watcher",
    "apply",
    "check_place",
    "default_space",
    "from_json",
    "load_shipped",
    "measure_over",
    "net_game",
    "play_match_over",
    "read_config",
    "read_identity",
    "read_space",
    "recipe_for",
    "setting_names",
    "shipped_names",
    "shipped_search",
    "to_json",
    "train",
]
