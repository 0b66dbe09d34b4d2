"""Every message arrives as it was sent; damaged bytes give one clear error."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import worker_functions
from random_messages import are_equal, messages
from rookery.base import pack_arrays
from rookery.workers import (
    Failed,
    Heartbeat,
    Message,
    MessageDamaged,
    Ready,
    pack,
    unpack,
)


@dataclass(frozen=True)
class Square:
    """A field that is a dataclass."""

    side: float
    colour: str | None


@dataclass(frozen=True)
class Circle:
    """Another one, with the same field."""

    side: float
    pattern: bytes


@dataclass(frozen=True)
class Everything(Message):
    """One field of every kind."""

    number: int
    is_big: bool
    shape: Square | Circle | None
    shapes: tuple[Square | Circle, ...]
    pair: tuple[int, str]
    names: list[str]
    counts: dict[int, float]
    content: bytes | str
    array: NDArray[Any]
    arrays: Mapping[str, NDArray[Any]]
    nested: tuple[Mapping[str, tuple[bytes, ...]], ...]
    plain: Any


@dataclass(frozen=True)
class Choice(Message):
    """A field of few values."""

    mode: Literal["fast", "slow"]


CLASSES = [Ready, Heartbeat, Failed, Everything, worker_functions.Count, worker_functions.Echo]


@given(st.sampled_from(CLASSES).flatmap(messages))
def test_every_message_arrives_as_it_was_sent(message: Message) -> None:
    assert are_equal(unpack(pack(message)), message)


@given(st.data())
def test_damaged_bytes_raise_nothing_but_message_damaged(data: st.DataObject) -> None:
    payload = bytearray(pack(data.draw(st.sampled_from(CLASSES).flatmap(messages))))
    for _ in range(data.draw(st.integers(1, 4))):
        payload[data.draw(st.integers(0, len(payload) - 1))] = data.draw(st.integers(0, 255))
    end = data.draw(st.integers(0, len(payload)))
    try:
        unpack(bytes(payload[:end] if data.draw(st.booleans()) else payload))
    except MessageDamaged as error:
        assert "\n" not in str(error)


@given(st.binary())
def test_foreign_bytes_are_no_message(payload: bytes) -> None:
    with pytest.raises(MessageDamaged, match="do all workers run the same version of Rookery"):
        unpack(payload)


@pytest.mark.parametrize(
    "header",
    [
        {},
        {"message": "Unheard", "fields": {}},
        {"message": "Message", "fields": {}},
        {"message": "Ready", "fields": {}},
        {"message": "Ready", "fields": {"version": 3}},
        {"message": "Ready", "fields": {"version": "1", "more": 1}},
        {"message": "Heartbeat", "fields": {"memory_mb": True}},
        {"message": "Choice", "fields": {"mode": "late"}},
        {"message": ["Ready"], "fields": {"version": "1"}},
    ],
)
def test_a_header_that_does_not_fit_is_damaged(header: dict[str, Any]) -> None:
    with pytest.raises(MessageDamaged):
        unpack(pack_arrays({}, header))


NOT_AN_INT: Any = np.int64(3)
NOT_A_STR: Any = b"reason"
NOT_A_CHOICE: Any = "late"


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (Heartbeat(NOT_AN_INT), r"Heartbeat.memory_mb: got a int64, expected int"),
        (Heartbeat(True), r"Heartbeat.memory_mb: got a bool, expected int"),
        (Failed(NOT_A_STR), r"Failed.reason: got a bytes, expected str"),
        (
            Choice(NOT_A_CHOICE),
            r"Choice.mode: got a str, expected typing.Literal\['fast', 'slow'\]",
        ),
    ],
)
def test_a_field_of_the_wrong_type_is_not_sent(message: Message, expected: str) -> None:
    with pytest.raises(TypeError, match=expected):
        pack(message)


def test_equal_bytes_travel_once() -> None:
    weights = bytes(100_000)

    @dataclass(frozen=True)
    class Nets(Message):
        files: tuple[bytes, ...]

    payload = pack(Nets((weights, bytes(100_000), weights)))
    assert len(payload) < 101_000
    assert unpack(payload) == Nets((weights,) * 3)


def test_a_message_name_is_used_once() -> None:
    with pytest.raises(TypeError, match=r"rookery\.workers\.messages already defines a message"):
        type("Ready", (Message,), {})
    assert type(unpack(pack(Ready("1")))) is Ready
