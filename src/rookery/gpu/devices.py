"""Devices by name: `auto`, `cpu`, `cuda:0`, several GPUs as `cuda:0,cuda:1`, `all` GPUs, or `mps`.

`mps` is the GPU of an Apple computer. It evaluates networks; trees, rows and learning stay on the
CPU.
"""

import importlib.util
import re

import torch

from rookery.base import ConfigError, DeviceMissing, UnknownName


def find_device(name: str) -> torch.device:
    """Return the device called `name`; `auto` is the first usable GPU, else the CPU."""
    devices = find_devices(name)
    if len(devices) > 1:
        raise ConfigError(f"expected one device, got {name}; choose one, as in --devices cuda:0")
    return devices[0]


def find_devices(names: str) -> tuple[torch.device, ...]:
    """Return the devices of a comma-separated list, or all GPUs: one device, or several GPUs."""
    if names == "all":
        _require_gpu("all")
        return tuple(torch.device("cuda", index) for index in range(torch.cuda.device_count()))
    devices = tuple(map(_find, _split(names)))
    if len(devices) > 1 and any(device.type != "cuda" for device in devices):
        raise ConfigError(f"several devices must all be NVIDIA GPUs, got {names}")
    if len(set(devices)) < len(devices):
        raise ConfigError(f"{names} repeats a device; use --actors for more actors per device")
    return devices


def find_places(names: str) -> tuple[torch.device, ...]:
    """Return the device of each of several processes: a list in which devices may repeat."""
    return find_devices(names) if names == "all" else tuple(map(_find, _split(names)))


def why_cpu(names: str) -> str:
    """Return a note on why `auto` is the CPU; an empty string if it is a GPU, or not `auto`."""
    is_on_cpu = names == "auto" and _find("auto").type == "cpu"
    return f"on the CPU: {_missing_for_gpu()}" if is_on_cpu else ""


def data_device(device: torch.device) -> torch.device:
    """Return where trees, rows and learning are if `device` evaluates networks."""
    return torch.device("cpu") if device.type == "mps" else device


def use_device(device: torch.device) -> None:
    """Make `device` the current one, with a stream other than the default stream."""
    if device.type == "cuda":
        torch.cuda.set_device(device)
        if torch.cuda.current_stream(device) == torch.cuda.default_stream(device):
            torch.cuda.set_stream(torch.cuda.Stream(device))


def _split(names: str) -> list[str]:
    return [name.strip() for name in names.split(",")]


def _find(name: str) -> torch.device:
    if name == "auto":
        return _find_best()
    if name == "cpu":
        return torch.device("cpu")
    if name == "mps":
        if missing := _missing_for_mps():
            raise DeviceMissing(f"mps cannot be used: {missing}; use --devices cpu, or omit it")
        return torch.device("mps")
    parts = re.fullmatch(r"cuda(?::(\d{1,4}))?", name)
    if parts is None:
        raise UnknownName("device", name, ("all", "auto", "cpu", "cuda:0", "mps"))
    _require_gpu(name)
    index = int(parts[1] or 0)
    if index >= torch.cuda.device_count():
        raise DeviceMissing(
            f"there is no {name}: this machine has {torch.cuda.device_count()} GPUs, "
            "numbered from cuda:0"
        )
    return torch.device("cuda", index)


def _find_best() -> torch.device:
    if not _missing_for_gpu():
        return torch.device("cuda", 0)
    return torch.device("cpu" if _missing_for_mps() else "mps")


def _require_gpu(name: str) -> None:
    if missing := _missing_for_gpu():
        raise DeviceMissing(f"{name} cannot be used: {missing}; use --devices cpu, or omit it")


def _missing_for_gpu() -> str:
    """Return what is missing to use a GPU, or an empty string."""
    if torch.version.cuda is None:
        return "torch was built without CUDA"
    if not torch.cuda.is_available():
        return "no NVIDIA GPU was found"
    if importlib.util.find_spec("numba_cuda") is None:
        return "numba-cuda is not installed (pip install 'rookery[cuda]')"
    return ""


def _missing_for_mps() -> str:
    """Return what is missing to use the GPU of an Apple computer, or an empty string."""
    if not torch.backends.mps.is_built():
        return "torch was built without support for Apple GPUs"
    return "" if torch.backends.mps.is_available() else "no Apple GPU was found"
