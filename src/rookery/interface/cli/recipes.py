"""`rookery recipes`: list the recipes, or show all settings of one."""

from typing import Annotated

import typer


def recipes(
    name: Annotated[str | None, typer.Argument(help="Show all settings of this recipe.")] = None,
) -> None:
    """List the recipes, or show all settings of one."""
    from rookery.base import UnknownName
    from rookery.training import RECIPES, to_json

    if name is None:
        _list()
    elif name in RECIPES:
        print(to_json(RECIPES[name]()), end="")
    else:
        raise UnknownName("recipe", name, RECIPES)


def _list() -> None:
    from rookery.interface.formatting import new_table, screen
    from rookery.training import RECIPES

    table = new_table("recipe", "game", "network", "description")
    for name, make in RECIPES.items():
        config = make()
        table.add_row(name, config.game, str(config.net), make.__doc__ or "")
    screen().print(table)
