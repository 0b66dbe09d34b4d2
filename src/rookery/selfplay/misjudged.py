"""Positions that earlier games misjudged: some games start from one, to search it again.

How wrong a value was is known when the game has ended: by the values of the later positions, the
nearer ones weigh more, and by the result. A position is drawn in proportion to the square of that.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from rookery.base import MALFORMED, FileDamaged, Index, compiled, generator, plain, uniform
from rookery.games import Game, Repetitions
from rookery.gpu import send, to_host, zeros
from rookery.replay import Rows

CPU = torch.device("cpu")
NONE = np.int64(-1)
PARTS = 4
"""Positions are replaced in this many parts, the oldest one first."""
LATER_SHARE = 0.8
"""Weight of what comes after the next position; the value of the next position has the rest."""
ADDED = "misjudged.added"


class Misjudged(NamedTuple):
    """The positions from which games may start.

    states: [M] the positions.
    plies: [M] int32 moves made before each.
    used: [1] int32 how many of the M there are.
    """

    states: Any
    plies: Any
    used: Any


class MisjudgedPositions:
    """Chooses M = `num_games` positions of the latest finished games."""

    def __init__(
        self,
        game: Game,
        num_games: int,
        *,
        share: float,
        seed: int,
        device: torch.device = CPU,
    ) -> None:
        """`share` is the share of games that start from one; at 0 nothing is kept."""
        self.is_used = share > 0
        size = num_games if self.is_used else 1
        self._part = -(-size // PARTS)
        self._game, self._seed, self._added = game, seed, 0
        states = zeros(device, game.state_dtype, size)
        self.arrays = Misjudged(states, zeros(device, np.int32, size), zeros(device, np.int32, 1))

    def add(self, rows: Rows) -> None:
        """Replace the oldest positions by some of `rows`, which are whole games in order."""
        if not (self.is_used and len(rows.moves)):
            return
        errors = np.empty(len(rows.moves), np.float64)
        write_errors(rows.values, rows.results, rows.plies == rows.openings, errors)
        marks = np.cumsum(errors**2)
        if marks[-1] == 0:
            return
        size = len(self.arrays.plies)
        first = self._added * self._part % (-(-size // self._part) * self._part)
        places = slice(first, min(first + self._part, size))
        stream = generator(self._seed, "misjudged", self._added)
        drawn = stream.random(places.stop - places.start) * marks[-1]
        chosen = np.minimum(np.searchsorted(marks, drawn, side="right"), len(errors) - 1)
        self._added += 1
        send(self.arrays.states[places], rows.states[chosen])
        send(self.arrays.plies[places], rows.plies[chosen].astype(np.int32))
        self._count_used()

    def state(self) -> dict[str, NDArray[Any]]:
        """Return what later draws depend on."""
        if not self.is_used:
            return {}
        arrays = {f"misjudged.{name}": to_host(array) for name, array in self._kept().items()}
        return {**arrays, ADDED: np.array([self._added], np.int64)}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Continue from what `state` returned, or FileDamaged; begin with none if that was none.

        Positions of a run with another number of games are not taken over.
        """
        found = {name: plain(array) for name, array in state.items() if is_misjudged(name)}
        if not (self.is_used and found):
            return
        own = {name: plain(array) for name, array in self.state().items()}
        try:
            if len(found["misjudged.plies"]) != len(own["misjudged.plies"]):
                return
            is_whole = all(
                (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
                for name, array in own.items()
            )
            added, plies = int(found[ADDED][0]), found["misjudged.plies"]
            is_whole &= added >= 0 and bool(((plies >= 0) & (plies < 2**15)).all())
        except (KeyError, *MALFORMED) as error:
            raise FileDamaged("the misjudged positions are not whole; restore it") from error
        if not is_whole:
            raise FileDamaged("the misjudged positions have arrays of another form; restore it")
        for name, array in self._kept().items():
            values = np.ascontiguousarray(found[f"misjudged.{name}"])
            send(array, values.view(array.dtype).reshape(array.shape))
        self._added = added
        self._count_used()

    def _kept(self) -> dict[str, Any]:
        return {"states": self.arrays.states, "plies": self.arrays.plies}

    def _count_used(self) -> None:
        used = min(self._added * self._part, len(self.arrays.plies))
        send(self.arrays.used, np.array([used], np.int32))


def is_misjudged(name: str) -> bool:
    """Return whether an array of a checkpoint belongs to `MisjudgedPositions`."""
    return name.startswith("misjudged.")


@compiled
def draw_misjudged(
    misjudged: Misjudged,
    share: float,
    roots: NDArray[Any],
    repetitions: Repetitions,
    streams: NDArray[np.uint64],
    g: Index,
) -> Index:
    """Set roots[g] to one of the positions and return its ply, or NONE: the next game is new."""
    used = np.int64(misjudged.used[0])
    if share == 0 or used == 0 or uniform(streams, g) >= share:
        return NONE
    index = min(np.int64(uniform(streams, g) * used), used - 1)
    roots[g] = misjudged.states[index]
    repetitions.counts[g] = 0
    return np.int64(misjudged.plies[index])


@compiled
def write_errors(
    values: NDArray[np.float32],
    results: NDArray[np.int8],
    is_start: NDArray[np.bool_],
    errors: NDArray[np.float64],
) -> None:
    """Write how far each value is from the rest of its game; `is_start` marks first positions."""
    later = 0.0
    is_last = True
    for row in range(values.shape[0] - 1, -1, -1):
        if is_last:
            later = float(results[row])
        errors[row] = abs(values[row] - later)
        later = -(LATER_SHARE * later + (1 - LATER_SHARE) * values[row])
        is_last = is_start[row]
