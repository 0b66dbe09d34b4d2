"""Check the tables of a rules module: STATE, sizes and POLICY_CELLS."""

import numpy as np

from rookery.games.contract.random_games import require
from rookery.games.game import Game

MAX_ACTIONS = np.iinfo(np.int16).max  # replay stores actions as int16


def check_tables(game: Game) -> str:
    """Check that a state is a flat record and that the sizes make sense."""
    dtype = game.state_dtype
    fields = dtype.fields
    require(fields, "STATE has no fields: write np.dtype([('name', np.uint64), ...])")
    assert fields is not None
    require(not dtype.hasobject, "STATE holds Python objects: use numbers and fixed arrays only")
    used = sum(field[0].itemsize for field in fields.values())
    require(
        used == dtype.itemsize,
        f"STATE has {dtype.itemsize} bytes, but its fields have {used}: because of the padding,"
        " equal states may differ byte by byte; omit align=True",
    )
    for name in fields:
        require(
            not hasattr(np.record, name) and not name.startswith("_"),
            f"the field {name!r} of STATE hides an attribute of numpy records: rename it",
        )
    require(
        1 <= game.max_legal <= game.num_actions <= MAX_ACTIONS,
        f"MAX_LEGAL is {game.max_legal} and NUM_ACTIONS {game.num_actions}: expected"
        f" 1 <= MAX_LEGAL <= NUM_ACTIONS <= {MAX_ACTIONS}",
    )
    require(game.max_plies >= 1, f"MAX_PLIES is {game.max_plies}: expected at least 1")
    require(
        len(game.planes_shape) == 3 and min(game.planes_shape) >= 1,
        f"PLANES is {game.planes_shape}: expected (planes, height, width)",
    )
    _check_policy_cells(game)
    return f"a state has {dtype.itemsize} bytes, {game.num_actions} actions"


def _check_policy_cells(game: Game) -> None:
    """Check that POLICY_CELLS, if given, has a different cell for each action."""
    cells = game.policy_cells
    if cells is None:
        return
    require(
        cells.shape == (game.num_actions,) and np.issubdtype(cells.dtype, np.integer),
        f"POLICY_CELLS is {cells.dtype} {list(cells.shape)}: expected one integer for each of the"
        f" {game.num_actions} actions",
    )
    limit = game.num_actions * int(np.prod(game.planes_shape[1:]))
    require(
        cells.max() < limit, f"POLICY_CELLS goes up to {cells.max()}: expected less than {limit}"
    )
    require(
        cells.min() >= 0 and len(np.unique(cells)) == len(cells),
        "POLICY_CELLS has the same cell for two actions, or a negative one: expected"
        " plane * height * width + cell, different for each action",
    )
