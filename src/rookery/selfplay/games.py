"""The games in progress: what self-play writes down until a game ends. Scalar, for any device."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from rookery.base import MALFORMED, FileDamaged, Index, Number, compiled, seeds
from rookery.games import ONGOING, Game
from rookery.gpu import copy_in, zeros
from rookery.replay import Rows, copy_row, new_rows, to_unit

CPU = torch.device("cpu")


class Games(NamedTuple):
    """G games in progress with T rows each. A game's rows may follow those of finished games.

    rows: [G, T] the positions searched so far; see `replay.Rows`.
    firsts: [G] int32 row of the game's first position; rows before it belong to finished games.
    lengths: [G] int32 positions searched.
    openings: [G] int32 moves made before the first position searched.
    results: [G] int8 ONGOING, or the result for the player to move in the first position.
    streams: [G] uint64 states of `base.uniform`.
    never_resigns: [G] int8 whether the game is played to its end to check resignation.
    would_resign: [G] int8 who would have resigned in such a game: 1 the player to move in the first
        position, -1 the other one, 0 none.
    resign_checks: [G] int32 games so far in which one player would have resigned.
    resign_errors: [G] int32 of those, games that this player did not lose.
    """

    rows: Rows
    firsts: Any
    lengths: Any
    openings: Any
    results: Any
    streams: Any
    never_resigns: Any
    would_resign: Any
    resign_checks: Any
    resign_errors: Any


def new_games(
    game: Game, num_games: int, num_rows: int, *, seed: int, device: torch.device = CPU
) -> Games:
    """Allocate `num_games` games of `num_rows` rows; they must be started."""
    int8, int32 = np.int8, np.int32
    dtypes = (int32, int32, int32, int8, np.uint64, int8, int8, int32, int32)
    rows = new_rows(game, num_games, num_rows, device=device)
    games = Games(rows, *(zeros(device, dtype, num_games) for dtype in dtypes))
    copy_in(games.streams, seeds(num_games, seed, "selfplay"))
    return games


def check_games(state: Mapping[str, NDArray[Any]], game: Game, num_rows: int) -> None:
    """Raise FileDamaged if games in progress, by name, would make kernels leave their arrays."""
    try:
        firsts, lengths = state["games.firsts"], state["games.lengths"]
        used = firsts.astype(np.int64) + lengths
        found = {
            "games.firsts": (firsts, num_rows - 1),
            "games.lengths": (lengths, num_rows - 1),
            "games.firsts + games.lengths": (used, num_rows - 1),
            "games.openings": (state["games.openings"], 2**15 - 1),
            "rows.moves": (state["rows.moves"], game.num_actions - 1),
            "rows.num_legal": (state["rows.num_legal"], game.max_legal),
            "rows.legal": (_used_legal(state, used), game.num_actions - 1),
        }
        wrong = [name for name, (array, high) in found.items() if not _within(array, high)]
    except MALFORMED as error:
        raise FileDamaged("the games in progress are not whole; restore it") from error
    if wrong:
        raise FileDamaged(f"the games in progress have {wrong[0]} out of range; restore it")


def _within(array: NDArray[Any], high: int) -> bool:
    return bool(((array >= 0) & (array <= high)).all())


def _used_legal(state: Mapping[str, NDArray[Any]], used: NDArray[np.int64]) -> NDArray[np.int16]:
    """Return the legal actions of the positions searched so far: the rest may be anything."""
    legal, num_legal = state["rows.legal"], state["rows.num_legal"]
    if legal.ndim == 1:  # packed
        return legal
    rows = np.arange(legal.shape[1]) < used[:, None]
    entries: NDArray[np.int16] = legal[
        rows[..., None] & (np.arange(legal.shape[2]) < num_legal[..., None])
    ]
    return entries


@compiled
def write_policy(games: Games, policy: NDArray[np.float32], row: Index, g: Index) -> None:
    """Store the policy [L] of a position whose legal actions are stored."""
    for i in range(games.rows.num_legal[g, row]):
        games.rows.policy[g, row, i] = to_unit(policy[i])


@compiled
def label_rows(games: Games, g: Index) -> None:
    """Write into the rows of game g, which has ended, what is known only now."""
    first, result = games.firsts[g], games.results[g]
    for step in range(games.lengths[g]):
        games.rows.results[g, first + step] = result if step % 2 == 0 else -result
        games.rows.plies[g, first + step] = games.openings[g] + step
        games.rows.openings[g, first + step] = games.openings[g]


@compiled
def count_finished(games: Games, g: Index) -> Index:
    """Return how many of the first rows of game g belong to finished games."""
    is_over = games.results[g] != ONGOING
    return np.int64(games.firsts[g] + (games.lengths[g] if is_over else 0))


@compiled
def rows_of(games: Games, g: Index) -> Rows:
    """Return the rows of game g as rows [T]."""
    rows = games.rows
    return Rows(
        rows.states[g],
        rows.moves[g],
        rows.num_legal[g],
        rows.legal[g],
        rows.policy[g],
        rows.values[g],
        rows.draws[g],
        rows.results[g],
        rows.plies[g],
        rows.openings[g],
        rows.iterations[g],
    )


@compiled
def take_finished(games: Games, g: Index, target: Rows, first: Index, iteration: Index) -> None:
    """Move the finished rows of game g to `target`, from row `first` on; the others move up."""
    rows, finished = rows_of(games, g), count_finished(games, g)
    for i in range(finished):
        rows.iterations[i] = iteration
        copy_row(rows, np.int64(i), target, np.int64(first + i))
    if games.results[g] != ONGOING:
        games.lengths[g] = 0
    for i in range(games.lengths[g]):
        copy_row(rows, np.int64(finished + i), rows, np.int64(i))
    games.firsts[g] = 0


@compiled
def resigns(games: Games, threshold: Number, value: Number, mover: Index, g: Index) -> bool:
    """Return whether the player who found `value` resigns; note it in games played to the end."""
    if threshold == 0 or value >= -threshold:
        return False
    if games.never_resigns[g] and games.would_resign[g] == 0:
        games.would_resign[g] = mover
    return not games.never_resigns[g]


@compiled
def check_resignation(games: Games, g: Index) -> None:
    """Count a finished game in which one player would have resigned."""
    if games.would_resign[g] != 0:
        games.resign_checks[g] += 1
        games.resign_errors[g] += games.results[g] != -games.would_resign[g]
