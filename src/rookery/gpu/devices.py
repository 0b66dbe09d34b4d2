"""Devices by name: `cpu`, `cuda:0`, `auto`, or several GPUs: `cuda:0,cuda:1`."""

import importlib.util
import re

import torch

from rookery.base import ConfigError, DeviceMissing, UnknownName


def find_device(name: str) -> torch.device:
    """The device that `name` asks for; `auto` is the first GPU where there is one that works."""
    if "," in name:
        raise ConfigError(f"one device is wanted here, got {name}")
    if name == "auto":
        return torch.device("cpu") if _lacks() else torch.device("cuda", 0)
    if name == "cpu":
        return torch.device("cpu")
    parts = re.fullmatch(r"cuda(?::(\d+))?", name)
    if parts is None:
        raise UnknownName("device", name, ("auto", "cpu", "cuda:0"))
    if lacks := _lacks():
        raise DeviceMissing(f"{name} cannot be used: {lacks}; say --devices cpu, or leave it out")
    index = int(parts[1] or 0)
    if index >= torch.cuda.device_count():
        raise DeviceMissing(
            f"{name} is not there: this machine has {torch.cuda.device_count()} GPUs, "
            "counted from cuda:0"
        )
    return torch.device("cuda", index)


def find_devices(names: str) -> tuple[torch.device, ...]:
    """The devices that `names` asks for, separated by commas: one, or several GPUs."""
    devices = tuple(find_device(name.strip()) for name in names.split(","))
    if len(devices) > 1 and any(device.type == "cpu" for device in devices):
        raise ConfigError(f"several devices must all be GPUs, got {names}")
    if len(set(devices)) < len(devices):
        raise ConfigError(f"a device is named twice in {names}; say --actors for more actors")
    return devices


def use_device(device: torch.device) -> None:
    """Make `device` the one that kernels run on, in a stream of its own."""
    if device.type == "cuda":
        torch.cuda.set_device(device)
        if torch.cuda.current_stream(device) == torch.cuda.default_stream(device):
            torch.cuda.set_stream(torch.cuda.Stream(device))


def _lacks() -> str:
    """What a GPU lacks here to be used, or an empty text."""
    if not torch.cuda.is_available():
        return "there is no NVIDIA GPU that torch sees"
    if importlib.util.find_spec("numba_cuda") is None:
        return "its kernels need numba-cuda (pip install 'rookery[cuda]')"
    return ""
