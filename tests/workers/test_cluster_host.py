"""Messages of cluster workers arrive once and in order, even if calls are lost or repeated."""

import threading
import time

import pytest

from fake_time import FakeTime
from rookery.workers import cluster_host
from rookery.workers.cluster_host import Mailbox

SOON = 0.2


def test_messages_of_a_lost_answer_are_sent_again() -> None:
    mailbox = Mailbox()
    for payload in (b"a", b"b"):
        mailbox.send_bytes(payload)
    assert mailbox.fetch(0, SOON).payloads == [b"a", b"b"]
    mailbox.send_bytes(b"c")
    assert mailbox.fetch(0, SOON).payloads == [b"a", b"b", b"c"]
    assert mailbox.fetch(2, SOON).payloads == [b"c"]


def test_a_late_call_does_not_repeat_acknowledged_messages() -> None:
    mailbox = Mailbox()
    for payload in (b"a", b"b"):
        mailbox.send_bytes(payload)
    mailbox.fetch(0, SOON)
    assert mailbox.fetch(2, SOON).payloads == []
    assert mailbox.fetch(1, SOON).payloads == []


def test_a_call_waits_for_the_next_message() -> None:
    mailbox = Mailbox()
    threading.Timer(SOON, mailbox.send_bytes, [b"late"]).start()
    begun = time.monotonic()
    assert mailbox.fetch(0, 30.0).payloads == [b"late"]
    assert time.monotonic() - begun < 10.0


def test_messages_in_the_wrong_order_are_taken_in_order() -> None:
    mailbox = Mailbox()
    mailbox.deliver(1, b"second")
    assert not mailbox.poll(0.0)
    mailbox.deliver(0, b"first")
    assert mailbox.poll(0.0)
    assert [mailbox.recv_bytes(), mailbox.recv_bytes()] == [b"first", b"second"]


def test_a_repeated_message_is_taken_once() -> None:
    mailbox = Mailbox()
    mailbox.deliver(0, b"first")
    mailbox.deliver(0, b"first")
    assert mailbox.recv_bytes() == b"first"
    mailbox.deliver(0, b"first")
    assert not mailbox.poll(0.0)


def test_the_end_comes_with_the_last_messages() -> None:
    mailbox = Mailbox()
    mailbox.send_bytes(b"why")
    mailbox.end("failed")
    assert mailbox.fetch(0, SOON) == ([b"why"], "failed")


def test_a_mailbox_measures_the_time_since_the_last_call(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = FakeTime()
    monkeypatch.setattr(cluster_host, "time", clock)
    mailbox = Mailbox()
    clock.sleep(3.0)
    assert mailbox.seconds_since_call() == 3.0
    mailbox.fetch(0, 0.0)
    assert mailbox.seconds_since_call() == 0.0
