"""Worker functions and messages of the tests, in a module that a new process can import."""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rookery import __version__
from rookery.workers import Channel, Message, Ready, pack


@dataclass(frozen=True)
class Count(Message):
    number: int
    pid: int
    arrays: Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Say(Message):
    number: int
    arrays: Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Echo(Message):
    number: int
    arrays: Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class SquareNumber(Message):
    number: int


@dataclass(frozen=True)
class Squared(Message):
    number: int
    square: int
    pid: int


def count(channel: Channel, start: int) -> None:
    """Count until the channel closes; `start` is how often this worker was started."""
    channel.send(Ready(__version__))
    number = 0
    while True:
        channel.send(Count(number, os.getpid(), {}))
        number += 1
        time.sleep(0.05)


def fail_at_once(channel: Channel, start: int) -> None:
    """Fail at every start."""
    raise ValueError("this actor always fails")


def die_within_message(channel: Channel, start: int) -> None:
    """Die while a message is sent, the first time."""
    if start > 1:
        count(channel, start)
    channel.send(Ready(__version__))
    payload = pack(Count(0, 0, {"x": np.zeros(1000)}))
    frame = len(payload).to_bytes(4, "big") + payload[: len(payload) // 2]
    with channel._lock:
        assert isinstance(channel._transport, Connection)
        os.write(channel._transport.fileno(), frame)
        os._exit(3)


def send_garbage(channel: Channel, start: int) -> None:
    """Send bytes that are no message, and go on."""
    channel.send(Ready(__version__))
    with channel._lock:
        channel._transport.send_bytes(b"garbage")
    time.sleep(600)


def echo(channel: Channel, start: int) -> None:
    """Send back every message, its arrays doubled."""
    channel.send(Ready(__version__))
    while True:
        message = channel.receive(1.0)
        if isinstance(message, Say):
            doubled = {name: 2 * array for name, array in message.arrays.items()}
            channel.send(Echo(message.number, doubled))


def square(channel: Channel, start: int) -> None:
    """Square numbers, slowly."""
    channel.send(Ready(__version__))
    while True:
        message = channel.receive(1.0)
        if isinstance(message, SquareNumber):
            time.sleep(0.05)
            channel.send(Squared(message.number, message.number**2, os.getpid()))
