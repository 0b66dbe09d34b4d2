"""Tree search over many games at once: Gumbel and PUCT, on array trees."""

from rookery.search.batch import Decisions, Evaluator, Search
from rookery.search.settings import SearchConfig

__all__ = ["Decisions", "Evaluator", "Search", "SearchConfig"]
