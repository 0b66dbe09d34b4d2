"""Devices by name: `auto`, `cpu`, `cuda:0`, or several GPUs as `cuda:0,cuda:1`."""

import importlib.util
import re

import torch

from rookery.base import ConfigError, DeviceMissing, UnknownName


def find_device(name: str) -> torch.device:
    """Return the device called `name`; `auto` is the first usable GPU, else the CPU."""
    if "," in name:
        raise ConfigError(f"expected one device, got {name}")
    if name == "auto":
        return torch.device("cpu") if _missing_for_gpu() else torch.device("cuda", 0)
    if name == "cpu":
        return torch.device("cpu")
    parts = re.fullmatch(r"cuda(?::(\d{1,4}))?", name)
    if parts is None:
        raise UnknownName("device", name, ("auto", "cpu", "cuda:0"))
    if missing := _missing_for_gpu():
        raise DeviceMissing(f"{name} cannot be used: {missing}; use --devices cpu, or omit it")
    index = int(parts[1] or 0)
    if index >= torch.cuda.device_count():
        raise DeviceMissing(
            f"there is no {name}: this machine has {torch.cuda.device_count()} GPUs, "
            "numbered from cuda:0"
        )
    return torch.device("cuda", index)


def find_devices(names: str) -> tuple[torch.device, ...]:
    """Return the devices of a comma-separated list: one device, or several GPUs."""
    devices = tuple(find_device(name.strip()) for name in names.split(","))
    if len(devices) > 1 and any(device.type == "cpu" for device in devices):
        raise ConfigError(f"several devices must all be GPUs, got {names}")
    if len(set(devices)) < len(devices):
        raise ConfigError(f"{names} repeats a device; use --actors for more actors per device")
    return devices


def use_device(device: torch.device) -> None:
    """Make `device` the current one, with a stream other than the default stream."""
    if device.type == "cuda":
        torch.cuda.set_device(device)
        if torch.cuda.current_stream(device) == torch.cuda.default_stream(device):
            torch.cuda.set_stream(torch.cuda.Stream(device))


def _missing_for_gpu() -> str:
    """Return what is missing to use a GPU, or an empty string."""
    if not torch.cuda.is_available():
        return "there is no NVIDIA GPU that torch can use"
    if importlib.util.find_spec("numba_cuda") is None:
        return "kernels need numba-cuda (pip install 'rookery[cuda]')"
    return ""
