"""Devices by name."""

import pytest
import torch

from rookery.base import ConfigError, RookeryError
from rookery.gpu import devices, find_device, find_devices


@pytest.fixture
def two_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "_missing_for_gpu", lambda: "")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)


def test_names_are_devices(two_gpus: None) -> None:
    assert find_devices("cuda:0, cuda:1") == (torch.device("cuda", 0), torch.device("cuda", 1))
    assert find_devices("auto") == (torch.device("cuda", 0),)
    assert find_devices("cpu") == (torch.device("cpu"),)


def test_auto_is_the_cpu_without_a_usable_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "_missing_for_gpu", lambda: "there is no driver")
    assert find_device("auto") == torch.device("cpu")
    with pytest.raises(RookeryError, match="cuda:0 cannot be used: there is no driver"):
        find_device("cuda:0")


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("cpu,cuda:0", "several devices must all be GPUs, got cpu,cuda:0"),
        ("cuda:1,cuda:1", "cuda:1,cuda:1 repeats a device"),
        ("cuda:0,cuda:2", "there is no cuda:2: this machine has 2 GPUs"),
        ("cuda:0,gpu", "unknown device"),
    ],
)
def test_wrong_names_are_refused(two_gpus: None, names: str, message: str) -> None:
    with pytest.raises(RookeryError, match=message):
        find_devices(names)


def test_a_list_is_refused_for_a_single_device(two_gpus: None) -> None:
    with pytest.raises(ConfigError, match="expected one device, got cuda:0,cuda:1"):
        find_device("cuda:0,cuda:1")
