"""What the workers of the tests do; here, where a process started anew can import it."""

import os
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from rookery import __version__
from rookery.workers import Channel, Message


def counting(link: Channel, job: Mapping[str, Any]) -> None:
    """Count aloud."""
    link.send(Message("ready"))
    number = 0
    while True:
        link.send(Message("count", {"number": number, "pid": os.getpid()}))
        number += 1
        time.sleep(0.05)


def throwing(link: Channel, job: Mapping[str, Any]) -> None:
    """Fail at every start."""
    raise ValueError("this actor always fails")


def sleepy(link: Channel, job: Mapping[str, Any]) -> None:
    """Never be ready."""
    time.sleep(600)


def cut_off(link: Channel, job: Mapping[str, Any]) -> None:
    """Die within a message, the first time."""
    link.send(Message("ready"))
    if job["incarnation"] == 1:
        payload = Message("count", {"number": 0}, {"x": np.zeros(1000)}).pack()
        frame = len(payload).to_bytes(4, "big") + payload[: len(payload) // 2]
        with link._guard:
            os.write(link._connection.fileno(), frame)
            os._exit(3)
    counting(link, job)


def echoing(link: Channel, job: Mapping[str, Any]) -> None:
    """Send back what comes, numbers doubled."""
    link.send(Message("ready"))
    while True:
        message = link.receive(1.0)
        if message is not None:
            doubled = {name: 2 * array for name, array in message.arrays.items()}
            link.send(Message("echo", message.header, doubled))


def squaring(link: Channel, job: Mapping[str, Any]) -> None:
    """Do numbered pieces of work, a little at a time."""
    link.send(Message("ready", {"pid": os.getpid()}))
    while True:
        message = link.receive(1.0)
        if message is not None:
            time.sleep(0.05)
            piece = message.header["piece"]
            link.send(Message("done", {"piece": piece, "square": piece**2, "pid": os.getpid()}))


def throwing_judge(link: Channel, job: Mapping[str, Any]) -> None:
    """Take part in the judging until there is work."""
    link.send(Message("ready", {"rookery": __version__}))
    while True:
        message = link.receive(1.0)
        if message is not None and message.kind == "look":
            raise ValueError("this judge always fails")
