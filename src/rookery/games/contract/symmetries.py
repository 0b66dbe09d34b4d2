"""Check SYMMETRIES: the image of a game under a symmetry is a game, too."""

import numpy as np
from numpy.typing import NDArray

from rookery.games.contract.random_games import (
    RandomGames,
    after,
    legal_moves,
    planes_of,
    require,
)
from rookery.games.game import ONGOING, Action, Game, State


def check_symmetries(played: RandomGames) -> str:
    """Check that the tables are permutations that map games to games."""
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
