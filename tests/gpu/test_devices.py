"""Devices by name, and why there is no GPU among them."""

import importlib.util

import pytest
import torch

from rookery.base import ConfigError, RookeryError
from rookery.gpu import (
    data_device,
    devices,
    find_device,
    find_devices,
    find_places,
    why_cpu,
)


@pytest.fixture
def two_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "_missing_for_gpu", lambda: "")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)


@pytest.fixture
def apple_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.backends.mps, "is_built", lambda: True)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)


@pytest.fixture
def no_apple_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)


def test_names_are_devices(two_gpus: None) -> None:
    assert find_devices("cuda:0, cuda:1") == (torch.device("cuda", 0), torch.device("cuda", 1))
    assert find_devices("auto") == (torch.device("cuda", 0),)
    assert find_devices("cpu") == (torch.device("cpu"),)
    assert find_devices("all") == (torch.device("cuda", 0), torch.device("cuda", 1))


def test_auto_is_an_apple_gpu_if_there_is_no_other(
    monkeypatch: pytest.MonkeyPatch, apple_gpu: None
) -> None:
    monkeypatch.setattr(devices, "_missing_for_gpu", lambda: "torch was built without CUDA")
    assert find_devices("auto") == find_devices("mps") == (torch.device("mps"),)
    assert why_cpu("auto") == ""
    assert data_device(find_device("auto")) == torch.device("cpu")


def test_auto_prefers_cuda(two_gpus: None, apple_gpu: None) -> None:
    assert find_device("auto") == data_device(find_device("auto")) == torch.device("cuda", 0)


def test_mps_needs_an_apple_computer(monkeypatch: pytest.MonkeyPatch, no_apple_gpu: None) -> None:
    monkeypatch.setattr(torch.backends.mps, "is_built", lambda: True)
    with pytest.raises(RookeryError, match="mps cannot be used: no Apple GPU was found"):
        find_device("mps")
    monkeypatch.setattr(torch.backends.mps, "is_built", lambda: False)
    with pytest.raises(RookeryError, match="mps cannot be used: torch was built without support"):
        find_device("mps")


def test_auto_is_the_cpu_without_a_usable_gpu(
    monkeypatch: pytest.MonkeyPatch, no_apple_gpu: None
) -> None:
    monkeypatch.setattr(devices, "_missing_for_gpu", lambda: "there is no driver")
    assert find_device("auto") == torch.device("cpu")
    with pytest.raises(RookeryError, match="cuda:0 cannot be used: there is no driver"):
        find_device("cuda:0")
    with pytest.raises(RookeryError, match="all cannot be used: there is no driver"):
        find_devices("all")
    assert why_cpu("auto") == "on the CPU: there is no driver"
    assert why_cpu("cpu") == "", "it was asked for"


def test_auto_has_nothing_to_explain_on_a_gpu(two_gpus: None) -> None:
    assert why_cpu("auto") == ""


@pytest.mark.parametrize(
    ("cuda", "is_available", "is_installed", "reason"),
    [
        (None, False, True, "torch was built without CUDA"),
        ("13.0", False, True, "no NVIDIA GPU was found"),
        ("13.0", True, False, "numba-cuda is not installed (pip install 'rookery[cuda]')"),
        ("13.0", True, True, ""),
    ],
)
def test_the_reason_names_what_is_missing(
    monkeypatch: pytest.MonkeyPatch,
    no_apple_gpu: None,
    cuda: str | None,
    is_available: bool,
    is_installed: bool,
    reason: str,
) -> None:
    monkeypatch.setattr(torch.version, "cuda", cuda)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: is_available)
    found = object() if is_installed else None
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: found)
    assert why_cpu("auto") == (f"on the CPU: {reason}" if reason else "")
    assert find_device("auto").type == ("cpu" if reason else "cuda")


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("cpu,cuda:0", "several devices must all be NVIDIA GPUs, got cpu,cuda:0"),
        ("cuda:1,cuda:1", "cuda:1,cuda:1 repeats a device"),
        ("cuda:0,cuda:2", "there is no cuda:2: this machine has 2 GPUs"),
        ("cuda:0,gpu", "unknown device"),
        ("mps,cuda:0", "several devices must all be NVIDIA GPUs, got mps,cuda:0"),
        ("mps:0", "unknown device"),
    ],
)
def test_wrong_names_are_refused(two_gpus: None, apple_gpu: None, names: str, message: str) -> None:
    with pytest.raises(RookeryError, match=message):
        find_devices(names)


def test_a_list_is_refused_for_a_single_device(two_gpus: None) -> None:
    with pytest.raises(ConfigError, match="expected one device, got cuda:0,cuda:1"):
        find_device("cuda:0,cuda:1")
    with pytest.raises(ConfigError, match="expected one device, got all"):
        find_device("all")


def test_all_gpus_may_be_one(two_gpus: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    assert find_device("all") == torch.device("cuda", 0)


def test_processes_may_share_devices(two_gpus: None) -> None:
    cpu, first, second = torch.device("cpu"), torch.device("cuda", 0), torch.device("cuda", 1)
    assert find_places("cpu,cpu") == (cpu, cpu)
    assert find_places("cuda:0, cuda:1,cuda:0") == (first, second, first)
    assert find_places("all") == (first, second)
    assert find_places("auto") == (first,)
    with pytest.raises(RookeryError, match="unknown device"):
        find_places("cpu,")
