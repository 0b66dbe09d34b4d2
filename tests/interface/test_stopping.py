"""Signals raise Stopped: at the next check, or by an alarm if none comes."""

import os
import signal
import time

import pytest

from rookery.interface import stopping
from rookery.interface.stopping import Stopping
from rookery.training import Stopped


def test_nothing_happens_before_a_signal() -> None:
    with Stopping() as stop:
        stop.check()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_next_check_obeys(number: signal.Signals) -> None:
    with Stopping() as stop:
        os.kill(os.getpid(), number)
        os.kill(os.getpid(), number)
        with pytest.raises(Stopped):
            stop.check()


def test_code_that_never_checks_is_stopped_by_an_alarm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stopping, "GRACE_SECONDS", 0.05)
    with Stopping(), pytest.raises(Stopped):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(10)


def test_without_alarms_the_next_check_obeys(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows, which has neither SIGALRM nor setitimer."""
    monkeypatch.setattr(stopping, "HAS_ALARM", False)
    monkeypatch.delattr(signal, "setitimer")
    with Stopping() as stop:
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(Stopped):
            stop.check()


def test_a_run_that_is_saving_is_not_stopped_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stopping, "GRACE_SECONDS", 0.05)
    with Stopping() as stop:
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(Stopped):
            stop.check()
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.2)


def test_the_handlers_of_before_come_back() -> None:
    before = signal.getsignal(signal.SIGINT)
    with Stopping():
        assert signal.getsignal(signal.SIGINT) != before
    assert signal.getsignal(signal.SIGINT) == before
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0
