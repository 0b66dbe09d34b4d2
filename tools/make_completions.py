"""Print src/rookery/interface/cli/completions.json: the names that a shell completes.

python tools/make_completions.py > src/rookery/interface/cli/completions.json
"""

import json

from rookery.games import game_names
from rookery.training import RECIPES, setting_names


def completions() -> str:
    """Return the games, the recipes, and all settings with their defaults."""
    sections = vars(next(iter(RECIPES.values()))())
    split = (name.partition(".")[::2] for name in setting_names())
    settings = [f"{part}.{name}={getattr(type(sections[part])(), name)}" for part, name in split]
    found = {"games": list(game_names()), "recipes": list(RECIPES), "settings": settings}
    return json.dumps(found, indent=1)


if __name__ == "__main__":
    print(completions())
