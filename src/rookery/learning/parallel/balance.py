"""Who learns from how many rows of a batch: as many as it is fast."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.int64]


def even_shares(rows: int, size: int) -> list[int]:
    """`rows` dealt out to `size` ranks."""
    return fair_shares(rows, [1.0] * size, largest_ratio=1.0)


def fair_shares(rows: int, rates: Sequence[float], *, largest_ratio: float) -> list[int]:
    """Rows of each rank by its rate; no rate counts for more than `largest_ratio` times another."""
    if rows < len(rates):
        raise ValueError(f"{rows} rows cannot be shared by {len(rates)} ranks")
    speeds = np.maximum(np.array(rates, np.float64), max(rates) / largest_ratio)
    exact = 1 + (rows - len(rates)) * speeds / speeds.sum()  # nobody without a row
    shares = np.floor(exact).astype(int)
    behind = np.argsort(shares - exact, kind="stable")
    shares[behind[: rows - shares.sum()]] += 1
    return [int(share) for share in shares]


def rows_of(rank: int, shares: Sequence[int], *, parts: int) -> Indices:
    """Where the rows of a rank lie in a batch of `parts` parts, each shared out alike."""
    begin, size = sum(shares[:rank]), sum(shares)
    first = np.arange(parts)[:, None] * size + begin
    places: Indices = (first + np.arange(shares[rank])).reshape(-1).astype(np.int64)
    return places
