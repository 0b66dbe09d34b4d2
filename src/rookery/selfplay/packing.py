"""Games in progress on a GPU, packed for a checkpoint: rows and policies without padding."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rookery.gpu import as_tensor, copy_in, to_host

Columns = Mapping[str, Any]
"""Kernels' arrays by name: of games [G], rows [G, T, ...] ("rows.") or policies [G, T, L]."""
POLICIES = ("rows.legal", "rows.policy")


def pack_games(columns: Columns) -> dict[str, NDArray[Any]]:
    """Return the columns in host memory; rows lie game after game, policies row after row."""
    rows, entries = _masks(columns)
    packed: dict[str, NDArray[Any]] = {}
    for name, column in columns.items():
        if not name.startswith("rows."):
            packed[name] = to_host(column)
        elif name in POLICIES:
            packed[name] = as_tensor(column)[entries].cpu().numpy()
        else:
            found = _as_bytes(column)[rows].cpu().numpy()
            packed[name] = found.reshape(-1).view(column.dtype).reshape(-1, *column.shape[2:])
    return packed


def unpack_games(columns: Columns, packed: Mapping[str, NDArray[Any]]) -> None:
    """Fill the columns from what `pack_games` returned; if there are fewer games now, the first."""
    for name, column in columns.items():
        if not name.startswith("rows."):
            kept = _restored(packed[name], column.dtype)[: len(column)]
            copy_in(column, kept.astype(column.dtype).reshape(column.shape))
    used = packed["games.firsts"] + packed["games.lengths"]
    count = int(used[: len(columns["games.firsts"])].sum())
    rows, _ = _masks(columns)
    for name in (name for name in columns if name.startswith("rows.") and name not in POLICIES):
        flat = np.ascontiguousarray(packed[name][:count]).view(np.uint8)
        target = _as_bytes(columns[name])
        part = torch.from_numpy(flat.copy()).view(count, target.shape[2])
        target[rows] = part.to(rows.device)
    _, entries = _masks(columns)
    for name in POLICIES:
        shares = torch.from_numpy(packed[name][: int(entries.sum())].copy())
        as_tensor(columns[name])[entries] = shares.to(rows.device)


def _restored(array: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return records that a file keeps as bytes [..., size] as records again."""
    return array.view(dtype)[..., 0] if dtype.names and not array.dtype.names else array


def _masks(columns: Columns) -> tuple[Tensor, Tensor]:
    """Return [G, T] which rows are used, and [G, T, L] which entries of their policies."""
    firsts, lengths = (as_tensor(columns[f"games.{name}"]) for name in ("firsts", "lengths"))
    legal = as_tensor(columns["rows.num_legal"])
    places = torch.arange(legal.shape[1], device=legal.device)
    rows = places < (firsts + lengths)[:, None]
    entries = torch.arange(columns["rows.policy"].shape[2], device=legal.device)
    return rows, rows[..., None] & (entries < legal[..., None])


def _as_bytes(column: Any) -> Tensor:
    """Return [G, T, bytes of a row]."""
    games, rows = column.shape[:2]
    return as_tensor(column.view(np.dtype(np.uint8))).reshape(games, rows, -1)
