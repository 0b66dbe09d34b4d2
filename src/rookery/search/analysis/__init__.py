"""Search of one position with batched leaves, tree reuse and principal variations."""

from rookery.search.analysis.search import (
    AnalysisSearch,
    SearchProgress,
    choose_leaves,
    nodes_in_memory,
)
from rookery.search.analysis.variations import Variation

__all__ = [
    "AnalysisSearch",
    "SearchProgress",
    "Variation",
    "choose_leaves",
    "nodes_in_memory",
]
