"""Random messages, built from the type hints of their fields."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from rookery.workers import Message

DTYPES = ("u1", "i1", "<i2", "<i4", "<i8", "<f4", "<f8", "?")
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


def messages(cls: type[Message]) -> st.SearchStrategy[Message]:
    """Random messages of a class."""
    return random_dataclass(cls)


def random_dataclass(cls: type) -> st.SearchStrategy[Any]:
    """Random values of a dataclass."""
    hints = get_type_hints(cls)
    return st.builds(cls, **{field.name: values(hints[field.name]) for field in fields(cls)})


def values(hint: Any) -> st.SearchStrategy[Any]:
    """Random values of a type."""
    origin, arguments = get_origin(hint) or hint, get_args(hint)
    if origin is Any:
        return PLAIN
    if origin is np.ndarray or origin is NDArray:  # an alias of its own from NumPy 2.5 on
        return st.sampled_from(DTYPES).flatmap(
            lambda dtype: arrays.arrays(dtype, arrays.array_shapes(min_side=0, max_side=3))
        )
    if isinstance(origin, type) and is_dataclass(origin):
        return KNOWN[origin] if origin in KNOWN else random_dataclass(origin)
    if origin is tuple and arguments[1:] != (...,):
        return st.tuples(*map(values, arguments))
    if origin in (tuple, Sequence):
        return st.lists(values(arguments[0]), max_size=3).map(tuple)
    if origin in (dict, Mapping):
        return st.dictionaries(values(arguments[0]), values(arguments[1]), max_size=3)
    if origin is list:
        return st.lists(values(arguments[0]), max_size=3)
    if arguments:  # a union
        return st.one_of(*map(values, arguments))
    if origin is float:
        return st.floats(allow_nan=False)
    return st.from_type(origin)


KNOWN: dict[type, st.SearchStrategy[Any]] = {}
"""Strategies of dataclasses that do not accept all values of their fields' types."""


def are_equal(one: Any, other: Any) -> bool:
    """Whether two values are equal, of the same types, arrays included."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype != "?")
    if is_dataclass(one):
        return all(are_equal(getattr(one, f.name), getattr(other, f.name)) for f in fields(one))
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(are_equal, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(are_equal(one[key], other[key]) for key in one)
    return bool(one == other)
