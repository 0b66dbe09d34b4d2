"""Games under way on a GPU, in few bytes: rows and policies without the room they do not fill."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rookery.base import RunFolderError
from rookery.gpu import as_tensor, copy_in, to_host

Columns = Mapping[str, Any]
"""Arrays of kernels, by name; those of games [G], rows [G, T, ...] or policies [G, T, L]."""
POLICIES = ("history.policy_actions", "history.policy")


def is_of_rows(name: str, column: Any) -> bool:
    """Whether a column has a row for every position."""
    return name.startswith(("history.", "marks.")) and column.ndim > 1


def pack_games(columns: Columns) -> dict[str, NDArray[Any]]:
    """The columns in the host's memory; rows lie game after game, policies row after row."""
    rows, entries = _masks(columns)
    kept: dict[str, NDArray[Any]] = {}
    for name, column in columns.items():
        if not is_of_rows(name, column):
            kept[name] = to_host(column)
        elif name in POLICIES:
            kept[name] = as_tensor(column)[entries].cpu().numpy()
        else:
            found = _as_bytes(column)[rows].cpu().numpy()
            kept[name] = found.reshape(-1).view(column.dtype).reshape(-1, *column.shape[2:])
    return kept


def unpack_games(columns: Columns, kept: Mapping[str, NDArray[Any]]) -> None:
    """Fill the columns with what `pack_games` kept; the first games, where there are fewer now."""
    if kept["history.states"].ndim > 1:
        raise RunFolderError(
            "its games under way were kept by an older Rookery; begin a new run with --init RUN"
        )
    for name, column in columns.items():
        if not is_of_rows(name, column):
            copy_in(column, kept[name][: len(column)].astype(column.dtype))
    used = kept["history.firsts"] + kept["history.lengths"]
    count = int(used[: len(columns["history.firsts"])].sum())
    rows, _ = _masks(columns)
    for name in (name for name, column in columns.items() if is_of_rows(name, column)):
        if name not in POLICIES:
            flat = np.ascontiguousarray(kept[name][:count]).view(np.uint8)
            target = _as_bytes(columns[name])
            part = torch.from_numpy(flat.copy()).view(count, target.shape[2])
            target[rows] = part.to(rows.device)
    _, entries = _masks(columns)
    for name in POLICIES:
        shares = torch.from_numpy(kept[name][: int(entries.sum())].copy())
        as_tensor(columns[name])[entries] = shares.to(rows.device)


def _masks(columns: Columns) -> tuple[Tensor, Tensor]:
    """[G, T] which rows are used, and [G, T, L] which entries of their policies."""
    firsts, lengths = (as_tensor(columns[f"history.{name}"]) for name in ("firsts", "lengths"))
    legal = as_tensor(columns["history.num_legal"])
    places = torch.arange(legal.shape[1], device=legal.device)
    rows = places < (firsts + lengths)[:, None]
    entries = torch.arange(columns["history.policy"].shape[2], device=legal.device)
    return rows, rows[..., None] & (entries < legal[..., None])


def _as_bytes(column: Any) -> Tensor:
    """[G, T, bytes of a row]."""
    games, rows = column.shape[:2]
    return as_tensor(column.view(np.dtype(np.uint8))).reshape(games, rows, -1)
