"""How many rows of a batch each rank gets, by its speed."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.int64]


def even_shares(rows: int, size: int) -> list[int]:
    """Return equal shares of `rows` for `size` ranks; they differ by at most one row."""
    return fair_shares(rows, [1.0] * size, largest_ratio=1.0)


def fair_shares(rows: int, rates: Sequence[float], *, largest_ratio: float) -> list[int]:
    """Return the rows of each rank, by its rate; rates count within a factor `largest_ratio`."""
    if rows < len(rates):
        raise ValueError(f"{rows} rows cannot be shared by {len(rates)} ranks")
    speeds = np.maximum(np.array(rates, np.float64), max(rates) / largest_ratio)
    exact = 1 + (rows - len(rates)) * speeds / speeds.sum()  # each rank gets at least one
    shares = np.floor(exact).astype(int)
    behind = np.argsort(shares - exact, kind="stable")
    shares[behind[: rows - shares.sum()]] += 1
    return [int(share) for share in shares]


def rows_of(rank: int, shares: Sequence[int], *, parts: int) -> Indices:
    """Return the rows of a rank in a batch of `parts` parts that are all shared alike."""
    begin, size = sum(shares[:rank]), sum(shares)
    first = np.arange(parts)[:, None] * size + begin
    offsets: Indices = (first + np.arange(shares[rank])).reshape(-1).astype(np.int64)
    return offsets
