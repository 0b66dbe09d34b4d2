"""The worker's end of a connection."""

import threading
import time

import pytest

from rookery.workers import Channel, Heartbeat, unpack


class Pipe:
    """A transport that keeps what is sent, and breaks when a test says so."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.is_broken = threading.Event()

    def send_bytes(self, payload: bytes, /) -> None:
        if self.is_broken.is_set():
            raise OSError("the coordinator has gone")
        self.sent.append(payload)

    def poll(self, seconds: float, /) -> bool:
        return False

    def recv_bytes(self) -> bytes:
        raise AssertionError("nothing was sent to this worker")


@pytest.mark.parametrize(("seconds", "least", "most"), [(0.01, 3, 10**6), (600.0, 1, 1)])
def test_the_interval_of_heartbeats_is_a_setting(seconds: float, least: int, most: int) -> None:
    pipe = Pipe()
    Channel(pipe, seconds)
    deadline = time.monotonic() + 20.0
    while len(pipe.sent) < least and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.05)
    pipe.is_broken.set()
    assert least <= len(pipe.sent) <= most
    assert all(isinstance(unpack(payload), Heartbeat) for payload in pipe.sent)
