"""Check SYMMETRIES: a position and its image must have corresponding moves, outcomes and planes.

The image of a position is a state whose planes are the permuted planes. If the first position is
not its own image, as in Othello, its image is made by permuting the cells of the state, and others
are looked for among the positions of the random games. Fields of the state that are neither cells
nor the same in every game may make the permuted state wrong, so that it then only warns.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rookery.games.contract.random_games import (
    CheckFailed,
    CheckWarning,
    RandomGames,
    after,
    legal_moves,
    planes_of,
    require,
)
from rookery.games.game import DRAW, ONGOING, Action, Game, State

Seen = dict[tuple[int, bytes], State]  # positions of the random games, by ply and planes


class Fields(NamedTuple):
    """Names of the fields of STATE, without those that depend on the ply alone."""

    arrays: list[str]
    """Arrays with one entry per cell."""
    bitboards: list[str]
    """Unsigned integers, or arrays of them, with one bit per cell."""
    others: list[str]
    """Fields that may depend on cells in a way that is not known."""


def check_symmetries(played: RandomGames) -> str:
    """Check that SYMMETRIES are permutations that map positions to positions of the same game."""
    game = played.game
    _check_permutations("cells", game.cell_symmetries, game.planes_shape[1] * game.planes_shape[2])
    _check_permutations("actions", game.action_symmetries, game.num_actions)
    seen: Seen = {}
    for state, line in played.positions():
        seen.setdefault((len(line), _permuted_planes(game, state, 0)), state.copy())
    first, moving, pairs = game.new_states(1)[0], 0, 0
    for index in range(1, len(game.action_symmetries)):
        found = sum(_check_line(game, line, index, seen) for line in played.lines)
        if _permuted_planes(game, first, index) != _permuted_planes(game, first, 0):
            found += _check_permuted_states(played, index)
            moving, pairs = moving + 1, pairs + found
        if not found:
            raise CheckWarning(
                f"SYMMETRIES[{index}] changes the first position and could not be tested: no"
                " position of the random games is the image of another; test it yourself"
            )
    summary = f"{len(game.action_symmetries)} symmetries, including the identity"
    if not moving:
        return summary
    return f"{summary}; {moving} change the first position: compared {pairs} pairs"


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


def _check_line(game: Game, line: list[Action], index: int, seen: Seen) -> int:
    """Follow a line from its first position whose image was seen; return the pairs compared."""
    state = game.new_states(1)[0]
    for ply in range(len(line) + 1):
        image = seen.get((ply, _permuted_planes(game, state, index)))
        if image is not None:
            return _follow(game, (state, image.copy()), line, ply, index)
        if ply < len(line):
            game.rules.play(state, line[ply])
    return 0


def _check_permuted_states(played: RandomGames, index: int) -> int:
    """Follow every line from the permuted first position; return the pairs compared."""
    game, fields, pairs = played.game, _fields(played), 0
    try:
        for line in played.lines:
            state = game.new_states(1)[0]
            image = _permuted_state(state, game.cell_symmetries[index], fields)
            if _permuted_planes(game, image, 0) == _permuted_planes(game, state, index):
                pairs += _follow(game, (state, image), line, 0, index)
    except CheckFailed as failure:
        if not fields.others:
            raise
        raise CheckWarning(
            f"{failure} (ignore this if the field {fields.others[0]} of STATE depends on cells)"
        ) from failure
    return pairs


def _fields(played: RandomGames) -> Fields:
    """Sort the fields of STATE by what they seem to hold in the random games."""
    fields, num_cells = Fields([], [], []), played.game.cell_symmetries.shape[1]
    states = [(len(line), state.copy()) for state, line in played.positions()]
    for name in played.game.state_dtype.names or ():
        kind = played.game.state_dtype[name]
        values = {(ply, state[name].tobytes()) for ply, state in states}
        if int(np.prod(kind.shape)) == num_cells:
            fields.arrays.append(name)
        elif len(values) > len({ply for ply, _ in values}):
            most = max(int(np.max(state[name])) for _, state in states)
            is_bitboard = kind.base.kind == "u" and num_cells < most < 2**num_cells
            (fields.bitboards if is_bitboard else fields.others).append(name)
    return fields


def _permuted_state(state: State, cells: NDArray[np.int32], fields: Fields) -> State:
    image = state.copy()
    for name in fields.arrays:
        image[name] = state[name].ravel()[cells].reshape(state[name].shape)
    for name in fields.bitboards:
        image[name] = 0
        for new, old in enumerate(cells.tolist()):
            image[name] |= (state[name] >> old & 1) << new
    return image


def _follow(
    game: Game, pair: tuple[State, State], line: list[Action], first: int, index: int
) -> int:
    """Play the rest of `line`, and its image on the image; compare after every move."""
    state, image = pair
    to_image = np.argsort(game.action_symmetries[index])
    for ply in range(first, len(line) + 1):
        where = f"SYMMETRIES[{index}] {after(line[:ply])}"
        moves = _image_moves(game, state, to_image)
        others = _image_moves(game, image, np.arange(len(to_image)))
        if first and DRAW in (moves, others):  # by a count of moves that planes need not show
            return ply - first
        require(
            moves == others,
            f"{where}: the image has another outcome or other legal moves; the table of actions"
            " must satisfy new[a] = old[table[a]]",
        )
        require(
            _permuted_planes(game, state, index) == _permuted_planes(game, image, 0),
            f"{where}: the planes of the image are not the permuted planes; the table of cells"
            " must satisfy new[c] = old[table[c]]",
        )
        if ply < len(line):
            game.rules.play(state, line[ply])
            game.rules.play(image, int(to_image[line[ply]]))
    return len(line) + 1 - first


def _permuted_planes(game: Game, state: State, index: int) -> bytes:
    planes = planes_of(game, game.rules, state) + np.float32(0)  # -0 becomes 0
    return planes.reshape(len(planes), -1)[:, game.cell_symmetries[index]].tobytes()


def _image_moves(game: Game, state: State, to_image: NDArray[np.intp]) -> list[Action] | int:
    """Return the images of the legal actions, or the outcome if the game is over."""
    outcome = int(game.rules.outcome(state))
    if outcome != ONGOING:
        return outcome
    return sorted(to_image[legal_moves(game, game.rules, state)].tolist())
