"""Rows: the one format of training data, from the self-play kernel to the batch, on every device.

A row is one searched position. States are kept as the rules store them; what the network sees is
made when a batch is built. Kernels write and read rows in padded arrays; files and messages leave
the padding out (`to_columns`). A shard holds the rows of finished games in one safetensors file.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from rookery.base import (
    FileDamaged,
    Index,
    Number,
    RunFolderError,
    compiled,
    damaged,
    plain,
    read_arrays,
    write_arrays,
)
from rookery.games import Action, Game, State
from rookery.gpu import to_host, zeros

Array = Any  # a NumPy array, or a kernel's array on a GPU
UNIT = 32767
"""Policies are stored as whole numbers of 1 / UNIT."""
PADDED = ("legal", "policy")
GIVEN = -1
"""The iteration of rows from games that were given to learn from."""


class Rows(NamedTuple):
    """R searched positions with at most L legal actions; rows of one game are adjacent, in order.

    Values and results are for the player to move. During self-play the first axis is [G, T].

    states: [R] positions.
    moves: [R] int16 the move made.
    num_legal: [R] int16 number of legal actions.
    legal: [R, L] int16 the legal actions, then anything.
    policy: [R, L] int16 the search's policy over them, in units of 1 / UNIT, then anything.
    values: [R] float32 the search's value.
    draws: [R] float32 the search's draw probability.
    results: [R] int8 how the game ended: WIN, DRAW or LOSS.
    plies: [R] int16 moves made before the position.
    openings: [R] int16 moves made before the first row of the game: an opening, or an earlier game.
    iterations: [R] int32 training iteration in which the game ended, or GIVEN.
    """

    states: Array
    moves: Array
    num_legal: Array
    legal: Array
    policy: Array
    values: Array
    draws: Array
    results: Array
    plies: Array
    openings: Array
    iterations: Array


def new_rows(
    game: Game,
    *shape: int,
    width: int | None = None,
    device: torch.device = torch.device("cpu"),  # noqa: B008  a constant
) -> Rows:
    """Allocate zeroed rows; `width` is L, by default the most legal actions of the game."""
    padded = (*shape, game.max_legal if width is None else width)
    return Rows(
        states=zeros(device, game.state_dtype, *shape),
        moves=zeros(device, np.int16, *shape),
        num_legal=zeros(device, np.int16, *shape),
        legal=zeros(device, np.int16, *padded),
        policy=zeros(device, np.int16, *padded),
        values=zeros(device, np.float32, *shape),
        draws=zeros(device, np.float32, *shape),
        results=zeros(device, np.int8, *shape),
        plies=zeros(device, np.int16, *shape),
        openings=zeros(device, np.int16, *shape),
        iterations=zeros(device, np.int32, *shape),
    )


@compiled
def to_unit(probability: Number) -> np.int16:
    """Return a probability as a whole number of 1 / UNIT."""
    return np.int16(probability * np.float32(UNIT) + np.float32(0.5))


@compiled
def copy_row(source: Rows, s: Index, target: Rows, t: Index) -> None:
    """Copy row s of `source` to row t of `target`, which must be as wide."""
    target.states[t] = source.states[s]
    target.moves[t] = source.moves[s]
    target.num_legal[t] = source.num_legal[s]
    for i in range(source.num_legal[s]):
        target.legal[t, i] = source.legal[s, i]
        target.policy[t, i] = source.policy[s, i]
    target.values[t] = source.values[s]
    target.draws[t] = source.draws[s]
    target.results[t] = source.results[s]
    target.plies[t] = source.plies[s]
    target.openings[t] = source.openings[s]
    target.iterations[t] = source.iterations[s]


def count(rows: Rows) -> int:
    """Return the number of rows."""
    return len(rows.moves)


def select(rows: Rows, part: slice) -> Rows:
    """Return a view of some of the rows."""
    return Rows(*(column[part] for column in rows))


def fetch(rows: Rows, number: int) -> Rows:
    """Return a copy of the first `number` rows in host memory."""
    return Rows(*(to_host(column[:number]) for column in rows))


def concatenate(parts: Sequence[Rows]) -> Rows:
    """Return the rows of all parts, in order, as wide as the widest part."""
    width = max(part.legal.shape[1] for part in parts)
    columns = zip(*(widen(part, width) for part in parts), strict=True)
    # Without a dtype NumPy would turn records into tuples that have no field names.
    return Rows(*(np.concatenate(column, dtype=column[0].dtype) for column in columns))


def widen(rows: Rows, width: int) -> Rows:
    """Return the rows with space for `width` legal actions each."""
    extra = ((0, 0), (0, width - rows.legal.shape[1]))
    if extra[1][1] == 0:
        return rows
    return rows._replace(legal=np.pad(rows.legal, extra), policy=np.pad(rows.policy, extra))


def to_columns(rows: Rows) -> dict[str, NDArray[Any]]:
    """Return rows in host memory as plain arrays for files and messages, without padding."""
    is_legal = _is_legal(rows.num_legal, rows.legal.shape[1])
    columns = rows._asdict() | {name: getattr(rows, name)[is_legal] for name in PADDED}
    return columns | {"states": plain(np.ascontiguousarray(rows.states))}


def from_columns(
    columns: Mapping[str, NDArray[Any]], *, game: Game, source: str = "a message"
) -> Rows:
    """Return the rows of `game` that `to_columns` was given, or FileDamaged, naming `source`."""
    _check_columns(columns, game, source)
    num_legal = columns["num_legal"]
    is_legal = _is_legal(num_legal, int(num_legal.max(initial=1)))
    padded = {name: np.zeros(is_legal.shape, columns[name].dtype) for name in PADDED}
    for name, array in padded.items():
        array[is_legal] = columns[name]
    states = np.ascontiguousarray(columns["states"]).reshape(-1)
    return Rows(**{**columns, **padded, "states": states.view(game.blank_states(0).dtype)})


def _check_columns(columns: Mapping[str, NDArray[Any]], game: Game, source: str) -> None:
    """Raise an error unless the columns are rows that self-play of `game` can have made."""
    expected = to_columns(new_rows(game, 0))
    if columns.keys() != expected.keys():
        raise damaged(source, "it does not have the columns of rows")
    size, raw = game.state_dtype.itemsize, columns["states"]
    if raw.ndim == 2 and raw.shape[1] != size:
        raise RunFolderError(
            f"{source}: a {game.name} state has {size} bytes, these rows have {raw.shape[1]}; "
            "the rules changed without a new version: raise VERSION and start a new run"
        )
    lengths = dict.fromkeys(expected, columns["num_legal"].size)
    for name in ("num_legal", *expected):
        wanted, found = expected[name], columns[name]
        shape = (lengths[name], *wanted.shape[1:])
        if (found.dtype, found.shape) != (wanted.dtype, shape):
            why = f"{name} is {found.dtype} {list(found.shape)}, expected {wanted.dtype}"
            raise damaged(source, f"{why} {list(shape)}")
        if name == "num_legal":
            check_range(columns, name, 1, game.max_legal, source)
            lengths |= dict.fromkeys(PADDED, int(found.sum(dtype=np.int64)))
    for name, (low, high) in limits(game).items():
        check_range(columns, name, low, high, source)


def limits(game: Game) -> dict[str, tuple[float, float]]:
    """Return the smallest and largest numbers in columns of finished games."""
    return {
        "moves": (0, game.num_actions - 1),
        "legal": (0, game.num_actions - 1),
        "policy": (0, UNIT),
        "values": (-1.001, 1.001),
        "draws": (-0.001, 1.001),
        "results": (-1, 1),
        "plies": (0, np.inf),
        "openings": (0, np.inf),
        "iterations": (GIVEN, np.inf),
    }


def check_range(
    columns: Mapping[str, NDArray[Any]], name: str, low: float, high: float, source: str
) -> None:
    """Raise FileDamaged if a number of a column is out of range or not a number."""
    found = columns[name]
    if not ((found >= low) & (found <= high)).all():
        raise damaged(source, f"{name} has numbers that are not in {low}..{high}")


def _is_legal(num_legal: NDArray[np.int16], width: int) -> NDArray[np.bool_]:
    return np.arange(width) < num_legal[:, None]


def shard_path(folder: Path, number: int) -> Path:
    """Return the path of shard `number` in `folder`."""
    return folder / f"{number:06}.safetensors"


def write_shard(path: Path, rows: Rows, *, game: Game) -> None:
    """Write rows of `game`; the file appears whole or not at all."""
    header = {"kind": "rows", "game": game.name, "version": game.version}
    write_arrays(path, to_columns(rows), header)


def read_shard(path: Path, *, game: Game) -> Rows:
    """Return the rows of a shard; FileDamaged, or RunFolderError if it is of another game."""
    columns, header = read_arrays(path)
    if header.get("kind") != "rows":
        raise FileDamaged(f"{path} is not a shard of rows; restore it from a copy")
    found = f"{header.get('game')} version {header.get('version')}"
    if found != f"{game.name} version {game.version}":
        raise RunFolderError(
            f"{path} holds {found}, expected {game.name} version {game.version}; "
            "resume with the game the run was started with, or start a new run"
        )
    return from_columns(columns, game=game, source=str(path))


class PlayedGame(NamedTuple):
    """One game of self-play, from the first position that was searched."""

    first: State
    moves: tuple[Action, ...]
    result: int
    """WIN, DRAW or LOSS for the player to move in `first`."""
    plies: int
    """Random moves before `first`."""


def games_in(rows: Rows) -> Iterator[PlayedGame]:
    """Yield the games that the rows hold, in order."""
    for first, end in pairwise([*game_starts(rows).tolist(), count(rows)]):
        moves = tuple(rows.moves[first:end].tolist())
        plies = int(rows.plies[first])
        yield PlayedGame(rows.states[first], moves, int(rows.results[first]), plies)


def game_starts(rows: Rows) -> NDArray[np.int64]:
    """Return the index of each game's first row."""
    return np.flatnonzero(rows.plies == rows.openings)
