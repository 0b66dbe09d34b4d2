"""Tree search: batches of games by Gumbel or PUCT, and the analysis of one position."""

from rookery.search.analysis.search import (
    AnalysisSearch,
    SearchProgress,
    choose_leaves,
    nodes_in_memory,
)
from rookery.search.analysis.variations import Variation
from rookery.search.config import SearchConfig
from rookery.search.cpu_search import NO_ACTION, CpuSearch
from rookery.search.cpu_search import bind as bind_cpu_search
from rookery.search.decisions import DecisionArrays, Decisions
from rookery.search.follow import follow_move
from rookery.search.gpu_search import FREE_SIMULATIONS, GpuTrees, new_search
from rookery.search.gumbel import visit_table
from rookery.search.protocols import DeviceEvaluator, Evaluator, Search
from rookery.search.simulate import bind as bind_simulation
from rookery.search.tree import repetitions_of

__all__ = [
    "FREE_SIMULATIONS",
    "NO_ACTION",
    "AnalysisSearch",
    "CpuSearch",
    "DecisionArrays",
    "Decisions",
    "DeviceEvaluator",
    "Evaluator",
    "GpuTrees",
    "Search",
    "SearchConfig",
    "SearchProgress",
    "Variation",
    "bind_cpu_search",
    "bind_simulation",
    "choose_leaves",
    "follow_move",
    "new_search",
    "nodes_in_memory",
    "repetitions_of",
    "visit_table",
]
