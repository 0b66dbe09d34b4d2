"""Tree search over many games at once: Gumbel and PUCT, on array trees."""

from rookery.search.batch import Search
from rookery.search.cuda import FREE_SIMULATIONS, DeviceTrees
from rookery.search.decisions import Decisions
from rookery.search.evaluators import DeviceEvaluator, Evaluator
from rookery.search.gumbel import visit_table
from rookery.search.lines import Line
from rookery.search.place import AnySearch, new_search
from rookery.search.settings import SearchConfig
from rookery.search.simulate import bind as bind_simulation
from rookery.search.single import Growth, SingleSearch, busy_leaves, nodes_for
from rookery.search.tree import memory_of

__all__ = [
    "FREE_SIMULATIONS",
    "AnySearch",
    "Decisions",
    "DeviceEvaluator",
    "DeviceTrees",
    "Evaluator",
    "Growth",
    "Line",
    "Search",
    "SearchConfig",
    "SingleSearch",
    "bind_simulation",
    "busy_leaves",
    "memory_of",
    "new_search",
    "nodes_for",
    "visit_table",
]
