"""Check SYMMETRIES: a position and its image must have corresponding moves, outcomes and planes.

The image of a position is a state whose planes are the permuted planes. Rules cannot construct it,
so it is looked for among the positions of the random games, the first position included. If the
first position is not its own image, as in Othello, an image is also guessed by permuting the cells
of the state. A guess may be wrong in fields that planes do not show, so that it only warns.
"""

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
from rookery.games.game import ONGOING, Action, Game, State

Seen = dict[tuple[int, bytes], State]  # positions of the random games, by ply and planes


def check_symmetries(played: RandomGames) -> str:
    """Check that SYMMETRIES are permutations that map positions to positions of the same game."""
    game = played.game
    _check_permutations("cells", game.cell_symmetries, game.planes_shape[1] * game.planes_shape[2])
    _check_permutations("actions", game.action_symmetries, game.num_actions)
    seen: Seen = {}
    for state, line in played.positions():
        seen.setdefault((len(line), _permuted_planes(game, state, 0)), state.copy())
    first = game.new_states(1)[0]
    moving, pairs = list[int](), list[int]()
    for index in range(1, len(game.action_symmetries)):
        found = sum(_check_line(game, line, index, seen) for line in played.lines)
        if _permuted_planes(game, first, index) != _permuted_planes(game, first, 0):
            moving.append(index)
            pairs.append(found)
    summary = f"{len(game.action_symmetries)} symmetries, including the identity"
    if not moving:
        return summary
    for i, index in enumerate(moving):
        pairs[i] += _check_guesses(played, index)
        if not pairs[i]:
            raise CheckWarning(
                f"SYMMETRIES[{index}] changes the first position and could not be tested: no"
                " position of the random games is the image of another; test it yourself"
            )
    return f"{summary}; {len(moving)} change the first position: compared {sum(pairs)} pairs"


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


def _check_guesses(played: RandomGames, index: int) -> int:
    """Follow every line from a guessed image; return the pairs compared."""
    game, pairs = played.game, 0
    try:
        for line in played.lines:
            state = game.new_states(1)[0]
            image = _guess_image(game, state, index)
            if _permuted_planes(game, image, 0) == _permuted_planes(game, state, index):
                pairs += _follow(game, (state, image), line, 0, index)
    except CheckFailed as failure:
        raise CheckWarning(
            f"{failure} (the image was guessed by permuting the cells of STATE; ignore this if"
            " STATE has other fields that depend on the cells)"
        ) from failure
    return pairs


def _guess_image(game: Game, state: State, index: int) -> State:
    """Return a copy with permuted cells: of arrays with an entry, and integers with a bit, each."""
    cells = game.cell_symmetries[index]
    image = state.copy()
    for name in game.state_dtype.names or ():
        values = np.asarray(state[name])
        if values.size == len(cells):
            image[name] = values.ravel()[cells].reshape(values.shape)
        elif values.size == 1 and values.dtype.kind in "iu" and values.itemsize * 8 >= len(cells):
            bits = int(values)
            permuted = sum((bits >> int(old) & 1) << new for new, old in enumerate(cells))
            image[name] = permuted if 0 <= bits < 1 << len(cells) else values
    return image


def _follow(
    game: Game, pair: tuple[State, State], line: list[Action], first: int, index: int
) -> int:
    """Play the rest of `line`, and its image on the image; compare after every move."""
    state, image = pair
    to_image = np.argsort(game.action_symmetries[index])
    for ply in range(first, len(line) + 1):
        where = f"SYMMETRIES[{index}] {after(line[:ply])}"
        require(
            _image_moves(game, state, to_image)
            == _image_moves(game, image, np.arange(len(to_image))),
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
