"""Devices by name."""

import pytest
import torch

from rookery.base import ConfigError, RookeryError
from rookery.gpu import devices, find_device, find_devices


@pytest.fixture
def two_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "_lacks", lambda: "")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)


def test_several_gpus(two_gpus: None) -> None:
    assert find_devices("cuda:0, cuda:1") == (torch.device("cuda", 0), torch.device("cuda", 1))
    assert find_devices("auto") == (torch.device("cuda", 0),)
    assert find_devices("cpu") == (torch.device("cpu"),)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("cpu,cuda:0", "several devices must all be GPUs, got cpu,cuda:0"),
        ("cuda:1,cuda:1", "a device is named twice in cuda:1,cuda:1"),
        ("cuda:0,cuda:2", "cuda:2 is not there: this machine has 2 GPUs"),
        ("cuda:0,gpu", "unknown device"),
    ],
)
def test_names_that_do_not_fit(two_gpus: None, names: str, message: str) -> None:
    with pytest.raises(RookeryError, match=message):
        find_devices(names)


def test_one_device_is_wanted(two_gpus: None) -> None:
    with pytest.raises(ConfigError, match="one device is wanted here"):
        find_device("cuda:0,cuda:1")
