"""GPUs: devices, memory that torch and kernels share, launches, captured graphs, load."""

from rookery.gpu.devices import find_device, find_devices, use_device
from rookery.gpu.kernels import (
    Graph,
    Stopwatch,
    as_tensor,
    copy_in,
    cuda,
    kernel,
    launch,
    to_host,
    transpose,
    view,
    zeros,
)
from rookery.gpu.usage import GpuMonitor, GpuUsage

__all__ = [
    "GpuMonitor",
    "GpuUsage",
    "Graph",
    "Stopwatch",
    "as_tensor",
    "copy_in",
    "cuda",
    "find_device",
    "find_devices",
    "kernel",
    "launch",
    "to_host",
    "transpose",
    "use_device",
    "view",
    "zeros",
]
