"""A run: its config, its folder, and the loop that turns the ring."""

from rookery.run.config import Config, RunConfig, apply, from_json, setting_names, to_json
from rookery.run.contestants import Contestant
from rookery.run.folder import RunFolder
from rookery.run.judging import measure_over, play_match_over
from rookery.run.loop import check_place, train
from rookery.run.moment import Moment, Stopped, Watcher
from rookery.run.recipes import RECIPES, recipe_for
from rookery.run.shipped import load_shipped, shipped_names, shipped_search
from rookery.run.stats import Stats

__all__ = [
    "RECIPES",
    "Config",
    "Contestant",
    "Moment",
    "RunConfig",
    "RunFolder",
    "Stats",
    "Stopped",
    "Watcher",
    "apply",
    "check_place",
    "from_json",
    "load_shipped",
    "measure_over",
    "play_match_over",
    "recipe_for",
    "setting_names",
    "shipped_names",
    "shipped_search",
    "to_json",
    "train",
]
