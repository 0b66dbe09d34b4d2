"""The monitor of a GPU's load, with a fake driver."""

import threading
import time

import pytest
import torch

from rookery.gpu import GpuMonitor, monitor, process_usage

DEVICE = torch.device("cuda", 0)


@pytest.fixture
def samples(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Utilizations that the fake driver has reported: 0, 10, 20, ..."""
    reported: list[int] = []

    def utilization(device: torch.device) -> int:
        reported.append(10 * len(reported))
        return reported[-1]

    monkeypatch.setattr(monitor, "SAMPLE_SECONDS", 0.005)
    monkeypatch.setattr(torch.cuda, "utilization", utilization)
    monkeypatch.setattr(torch.cuda, "device_memory_used", lambda device: 3 * 2**20)
    return reported


def wait_for(samples: list[int], count: int) -> None:
    end = time.monotonic() + 60
    while len(samples) < count and time.monotonic() < end:
        time.sleep(0.005)
    assert len(samples) >= count


def test_close_ends_the_thread(samples: list[int]) -> None:
    before = threading.enumerate()
    gpu = GpuMonitor(DEVICE)
    assert len(threading.enumerate()) == len(before) + 1
    gpu.close()
    gpu.close()
    assert threading.enumerate() == before


def test_leaving_the_context_ends_the_thread(samples: list[int]) -> None:
    before = threading.enumerate()
    with pytest.raises(ZeroDivisionError), GpuMonitor(DEVICE):
        _ = 1 / 0
    assert threading.enumerate() == before


def test_usage_is_the_mean_since_the_last_call(samples: list[int]) -> None:
    with GpuMonitor(DEVICE) as gpu:
        wait_for(samples, 5)
    first = gpu.read()
    assert first == monitor.GpuUsage(busy=sum(samples) / len(samples) / 100, memory_mb=3)
    assert gpu.read() is None and gpu.overall() == first


def test_without_a_driver_there_is_no_thread_and_no_usage(monkeypatch: pytest.MonkeyPatch) -> None:
    def utilization(device: torch.device) -> int:
        raise RuntimeError("no driver")

    monkeypatch.setattr(torch.cuda, "utilization", utilization)
    before = threading.enumerate()
    with GpuMonitor(DEVICE) as gpu:
        assert threading.enumerate() == before and gpu.overall() is None


def test_the_latest_usage_is_that_of_the_last_second(samples: list[int]) -> None:
    with GpuMonitor(DEVICE) as gpu:
        wait_for(samples, 15)
    last = monitor.GpuUsage(busy=sum(samples[-10:]) / 1000, memory_mb=3)
    assert gpu.latest() == last
    gpu.read()
    assert gpu.latest() == last, "also after the interval was read"


def test_the_usage_of_a_process(samples: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda device: 5 * 2**20)
    assert [process_usage(DEVICE) for _ in range(3)] == [(5, 0.0), (5, 0.1), (5, 0.2)]
    assert process_usage(torch.device("cpu")) == (0, None)

    def utilization(device: torch.device) -> int:
        raise RuntimeError("no driver")

    monkeypatch.setattr(torch.cuda, "utilization", utilization)
    assert process_usage(DEVICE) == (5, None)
