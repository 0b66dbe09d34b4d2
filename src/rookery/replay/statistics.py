"""Figures of a window that tell whether self-play still finds something new."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from rookery.base import plain
from rookery.gpu import as_tensor
from rookery.replay.rows import GIVEN, UNIT, Rows

CHUNK = 1 << 16
"""Rows looked at together, to bound the memory that this takes."""
FINE = 2**32
"""Entropies are added as whole numbers of 1 / FINE: the sum depends on no order and no padding."""
MULTIPLIER = 0x9E3779B97F4A7C15 - 2**64  # 2**64 / golden ratio, odd, as a signed number
LOW_BITS = 2**35 - 1


@dataclass(frozen=True)
class WindowStatistics:
    """What a window holds."""

    rows: int
    rows_made: int
    """Rows ever made, the dropped ones too."""
    mean_age: float
    """Mean number of iterations since a row was made."""
    duplicate_share: float
    """Share of rows whose position occurs in an earlier row."""
    policy_entropy: float
    """Mean entropy of the search's policies, in nats."""
    given_rows: int = 0
    """Rows of games that were given to learn from."""
    uniform_entropy: float = 0.0
    """Mean entropy of equal probabilities for all legal actions, in nats."""


def hash_states(states: Any) -> Tensor:
    """Return [R] 64-bit hashes of states on their device; collisions are very unlikely."""
    raw = as_tensor(plain(states))
    words = torch.nn.functional.pad(raw, (0, -raw.shape[1] % 8)).view(torch.int64)
    hashes = torch.zeros(len(words), dtype=torch.int64, device=raw.device)
    for word in words.unbind(1):
        for _ in range(2):
            hashes = (hashes ^ word) * MULTIPLIER
            hashes = hashes ^ ((hashes >> 29) & LOW_BITS)
    return hashes


def window_statistics(
    rows: Rows, parts: list[slice], *, rows_made: int, iteration: int
) -> WindowStatistics:
    """Return the figures of the rows at `parts` of a ring, seen in `iteration`."""
    chunks = [
        slice(first, min(first + CHUNK, part.stop))
        for part in parts
        for first in range(part.start, part.stop, CHUNK)
    ]
    size = sum(part.stop - part.start for part in parts)
    if not size:
        return WindowStatistics(0, rows_made, mean_age=0.0, duplicate_share=0.0, policy_entropy=0.0)
    hashes = torch.cat([hash_states(rows.states[chunk]) for chunk in chunks])
    iterations = as_tensor(rows.iterations)
    births = sum(float(iterations[chunk].double().sum()) for chunk in chunks)
    return WindowStatistics(
        rows=size,
        rows_made=rows_made,
        mean_age=iteration - births / size,
        duplicate_share=1.0 - len(torch.unique(hashes)) / size,
        policy_entropy=sum(_entropy(rows, chunk) for chunk in chunks) / size,
        given_rows=sum(int((iterations[chunk] == GIVEN).sum()) for chunk in chunks),
        uniform_entropy=sum(_uniform_entropy(rows, chunk) for chunk in chunks) / size,
    )


def _entropy(rows: Rows, chunk: slice) -> float:
    """Return the sum of the entropies of some of the rows' policies."""
    policies, num_legal = as_tensor(rows.policy)[chunk], as_tensor(rows.num_legal)[chunk]
    is_legal = torch.arange(policies.shape[1], device=policies.device) < num_legal[:, None]
    entropies = torch.special.entr((policies * is_legal).double() / UNIT)
    return _exact_sum(entropies)


def _uniform_entropy(rows: Rows, chunk: slice) -> float:
    """Return the sum over some of the rows of the logarithm of their number of legal actions."""
    return _exact_sum(as_tensor(rows.num_legal)[chunk].clamp(min=1).double().log())


def _exact_sum(entropies: Tensor) -> float:
    return int((entropies * FINE).round().long().sum()) / FINE
