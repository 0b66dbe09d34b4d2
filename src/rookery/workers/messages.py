"""Messages between processes: frozen dataclasses, and the one encoder that turns them into bytes.

A packed message is a safetensors file. Its arrays are the message's arrays and byte strings; all
other fields are JSON in its header. The decoder builds what the type hints of the fields ask for,
so the bytes of a stranger can neither run code nor put a wrong type into a field.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from rookery.base import RookeryError, pack_arrays, unpack_arrays

SCALARS: dict[type, tuple[type, ...]] = {
    bool: (bool,),
    int: (int,),
    float: (float, int),
    str: (str,),
    NoneType: (NoneType,),
}
"""The Python types that a field of each type accepts; a bool is only accepted as a bool."""
DAMAGES = (
    RookeryError,
    ValueError,
    LookupError,
    TypeError,
    ArithmeticError,
    AttributeError,
    RecursionError,
)
"""What building a message from damaged bytes may raise, `__post_init__` of a field included."""

Hint = Any  # a type, or a generic alias such as tuple[int, ...]
_classes: dict[str, type["Message"]] = {}


class MessageDamaged(RookeryError):
    """Bytes that are no message of this version of Rookery."""


@dataclass(frozen=True)
class Message:
    """The base of all messages; a subclass is a frozen dataclass, known by its name.

    Fields are numbers, str, bool, None, bytes, NumPy arrays of numbers, dataclasses of such fields,
    and tuples, lists, dictionaries and unions of all these. A field of type Any is any JSON value.
    """

    def __init_subclass__(cls) -> None:
        known = _classes.setdefault(cls.__name__, cls)
        if known is not cls:
            raise TypeError(f"{known.__module__} already defines a message {cls.__name__}")


@dataclass(frozen=True)
class Ready(Message):
    """The first message of every worker: it can work now."""

    version: str
    """The version of Rookery that it runs."""


@dataclass(frozen=True)
class Heartbeat(Message):
    """A worker is alive."""

    memory_mb: int
    device_mb: int = 0
    """Memory of its GPU that it has reserved."""
    device_busy: float | None = None
    """Present load of its GPU, from 0 to 1; None if it has none or cannot measure it."""


@dataclass(frozen=True)
class Failed(Message):
    """The last message of a worker whose function raised an exception."""

    reason: str


def pack(message: Message) -> bytes:
    """Return a message as bytes; TypeError if a field holds something else than its type."""
    arrays = _ArrayTable()
    plain = _encode_fields(type(message), message, arrays)
    return pack_arrays(arrays.named(), {"message": type(message).__name__, "fields": plain})


def unpack(payload: bytes) -> Message:
    """Return the message that was packed, or MessageDamaged."""
    try:
        arrays, header = unpack_arrays(payload)
        message: Message = _decode_fields(_classes[header["message"]], header["fields"], arrays)
        return message
    except DAMAGES as error:
        raise MessageDamaged(
            f"a message of {len(payload)} bytes is damaged or of an unknown kind; "
            "do all workers run the same version of Rookery?"
        ) from error


class _ArrayTable:
    """The arrays of a message, in the order in which they were found; equal bytes come once."""

    def __init__(self) -> None:
        self._arrays: list[NDArray[Any]] = []
        self._bytes: dict[bytes, int] = {}

    def add(self, array: NDArray[Any]) -> dict[str, int]:
        """Add an array; return the JSON that refers to it."""
        self._arrays.append(array)
        return {"array": len(self._arrays) - 1}

    def add_bytes(self, content: bytes) -> dict[str, int]:
        """Add a byte string; return the JSON that refers to it."""
        if content not in self._bytes:
            self._bytes[content] = self.add(np.frombuffer(content, np.uint8))["array"]
        return {"array": self._bytes[content]}

    def named(self) -> dict[str, NDArray[Any]]:
        """Return the arrays by the names that they travel under."""
        return {str(number): array for number, array in enumerate(self._arrays)}


@cache
def _hints(cls: type) -> dict[str, Hint]:
    hints = get_type_hints(cls)
    return {field.name: hints[field.name] for field in fields(cls)}


def _encode_fields(cls: type, value: Any, arrays: _ArrayTable) -> dict[str, Any]:
    plain = {}
    for name, hint in _hints(cls).items():
        try:
            plain[name] = _encode(hint, getattr(value, name), arrays)
        except TypeError as error:
            raise TypeError(f"{cls.__name__}.{name}: {error}") from None
    return plain


def _decode_fields(cls: type, plain: Any, arrays: Mapping[str, NDArray[Any]]) -> Any:
    hints = _hints(cls)
    if not isinstance(plain, dict) or plain.keys() != hints.keys():
        raise TypeError(f"expected the fields {list(hints)}")
    return cls(**{name: _decode(hint, plain[name], arrays) for name, hint in hints.items()})


def _encode(hint: Hint, value: Any, arrays: _ArrayTable) -> Any:
    """Return a value of the type `hint` as JSON, its arrays added to `arrays`."""
    origin, arguments = _split(hint)
    if origin is Any:
        return value
    if origin in SCALARS or origin is Literal:
        return _check_scalar(hint, value)
    if origin in (Union, UnionType):
        return _first_fit(arguments, lambda arm: _encode(arm, value, arrays), value)
    if origin is bytes and isinstance(value, bytes):
        return arrays.add_bytes(value)
    if origin is np.ndarray and isinstance(value, np.ndarray):
        return arrays.add(value)
    if is_dataclass(origin) and type(value) is origin:
        return {"class": origin.__name__, "fields": _encode_fields(origin, value, arrays)}
    if origin in (list, tuple, Sequence) and isinstance(value, list | tuple):
        hints = _item_hints(origin, arguments, len(value))
        return [_encode(hint, item, arrays) for hint, item in zip(hints, value, strict=True)]
    if origin in (dict, Mapping) and isinstance(value, Mapping):
        key_hint, value_hint = arguments
        items = [
            [_encode(key_hint, key, arrays), _encode(value_hint, item, arrays)]
            for key, item in value.items()
        ]
        return dict(items) if key_hint is str else items
    raise TypeError(f"got a {type(value).__name__}, expected {_name(hint)}")


def _decode(hint: Hint, plain: Any, arrays: Mapping[str, NDArray[Any]]) -> Any:
    """Return the value of the type `hint` that `_encode` was given; TypeError if it is none."""
    origin, arguments = _split(hint)
    if origin is Any:
        return plain
    if origin in SCALARS or origin is Literal:
        return _check_scalar(hint, plain)
    if origin in (Union, UnionType):
        return _first_fit(arguments, lambda arm: _decode(arm, plain, arrays), plain)
    if origin in (list, tuple, Sequence) and isinstance(plain, list):
        hints = _item_hints(origin, arguments, len(plain))
        items = (_decode(hint, item, arrays) for hint, item in zip(hints, plain, strict=True))
        return list(items) if origin is list else tuple(items)
    if origin in (dict, Mapping):
        key_hint, value_hint = arguments
        pairs = plain.items() if key_hint is str else plain
        return {_decode(key_hint, k, arrays): _decode(value_hint, v, arrays) for k, v in pairs}
    if isinstance(plain, dict):
        if origin in (bytes, np.ndarray):
            array = arrays[str(plain["array"])]
            return array.tobytes() if origin is bytes else array
        if isinstance(origin, type) and is_dataclass(origin) and plain["class"] == origin.__name__:
            return _decode_fields(origin, plain["fields"], arrays)
    raise TypeError(f"got a {type(plain).__name__}, expected {_name(hint)}")


def _check_scalar(hint: Hint, value: Any) -> Any:
    origin, choices = _split(hint)
    if origin is Literal:
        fits = any(value == choice and type(value) is type(choice) for choice in choices)
    else:
        fits = isinstance(value, SCALARS[hint]) and (hint is bool or not isinstance(value, bool))
    if not fits:
        raise TypeError(f"got a {type(value).__name__}, expected {_name(hint)}")
    return value


def _first_fit(arms: Sequence[Hint], convert: Callable[[Hint], Any], value: Any) -> Any:
    """Return what `convert` makes of the first type of a union that fits."""
    for arm in arms:
        try:
            return convert(arm)
        except (TypeError, LookupError):
            continue
    names = " or ".join(_name(arm) for arm in arms)
    raise TypeError(f"got a {type(value).__name__}, expected {names}")


def _item_hints(origin: Hint, arguments: Sequence[Hint], length: int) -> Sequence[Hint]:
    """Return the types of the items of a list or tuple of some length."""
    if origin is not tuple or arguments[1:] == (...,):
        return [arguments[0]] * length
    if len(arguments) != length:
        raise TypeError(f"got {length} items, expected {len(arguments)}")
    return arguments


def _split(hint: Hint) -> tuple[Any, tuple[Hint, ...]]:
    """Return the class of a type hint and the arguments of its brackets."""
    origin = get_origin(hint) or hint
    if hasattr(origin, "__value__"):  # an alias, as NDArray is from NumPy 2.5 on
        return _split(origin.__value__)
    return origin, get_args(hint)


def _name(hint: Hint) -> str:
    return hint.__name__ if isinstance(hint, type) else str(hint)
