"""Check the tables of a rules module: STATE, sizes, POLICY_CELLS and SYMMETRIES."""

import numpy as np
from numpy.typing import NDArray

from rookery.games.contract.random_games import RandomGames, after, legal_moves, planes_of, require
from rookery.games.game import ONGOING, Action, Game, State

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


def check_symmetries(played: RandomGames) -> str:
    """Check that SYMMETRIES are permutations that map games to games."""
    game = played.game
    _check_permutations("cells", game.cell_symmetries, game.planes_shape[1] * game.planes_shape[2])
    _check_permutations("actions", game.action_symmetries, game.num_actions)
    for index in range(1, len(game.action_symmetries)):
        for line in played.lines:
            _check_image(game, line, index)
    return f"{len(game.action_symmetries)} symmetries, including the identity"


def _check_permutations(kind: str, table: NDArray[np.int32], size: int) -> None:
    require(
        table.ndim == 2 and table.shape[1] == size,
        f"SYMMETRIES: a table of {kind} has shape {table.shape[1:]}, expected ({size},)",
    )
    for index, row in enumerate(table):
        require(
            sorted(row.tolist()) == list(range(size)),
            f"SYMMETRIES[{index}]: its {kind} are not a permutation of 0 to {size - 1}",
        )
    require(
        table[0].tolist() == list(range(size)),
        f"SYMMETRIES[0] must be the identity; its {kind} are {table[0].tolist()}",
    )


def _check_image(game: Game, line: list[Action], index: int) -> None:
    """Check that `line` and its image under one symmetry lead to corresponding positions."""
    cells, to_image = game.cell_symmetries[index], np.argsort(game.action_symmetries[index])
    state, image = game.new_states(2)
    for ply in range(len(line) + 1):
        where = f"SYMMETRIES[{index}] {after(line[:ply])}"
        require(
            _image_moves(game, state, to_image)
            == _image_moves(game, image, np.arange(len(to_image))),
            f"{where}: the image has another outcome or other legal moves; the table of actions"
            " must satisfy new[a] = old[table[a]]",
        )
        old, new = (planes_of(game, game.rules, each) for each in (state, image))
        require(
            np.array_equal(old.reshape(len(old), -1)[:, cells], new.reshape(len(new), -1)),
            f"{where}: the planes of the image are not the permuted planes; the table of cells"
            " must satisfy new[c] = old[table[c]]",
        )
        if ply < len(line):
            game.rules.play(state, line[ply])
            game.rules.play(image, int(to_image[line[ply]]))


def _image_moves(game: Game, state: State, to_image: NDArray[np.intp]) -> list[Action] | int:
    """Return the images of the legal actions, or the outcome if the game is over."""
    outcome = int(game.rules.outcome(state))
    if outcome != ONGOING:
        return outcome
    return sorted(to_image[legal_moves(game, game.rules, state)].tolist())
