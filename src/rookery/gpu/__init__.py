"""GPUs: devices, memory shared by torch and kernels, kernel launches, captured graphs, load."""

from rookery.gpu.devices import (
    data_device,
    find_device,
    find_devices,
    find_places,
    use_device,
    why_cpu,
)
from rookery.gpu.graphs import Graph, Stopwatch
from rookery.gpu.kernels import (
    as_tensor,
    copy_in,
    cuda,
    kernel,
    launch,
    launches_on,
    noted_launches,
    send,
    to_host,
    transpose,
    view,
    zeros,
)
from rookery.gpu.monitor import GpuMonitor, GpuUsage, process_usage
from rookery.gpu.parts import Parts, collected_notes

__all__ = [
    "GpuMonitor",
    "GpuUsage",
    "Graph",
    "Parts",
    "Stopwatch",
    "as_tensor",
    "collected_notes",
    "copy_in",
    "cuda",
    "data_device",
    "find_device",
    "find_devices",
    "find_places",
    "kernel",
    "launch",
    "launches_on",
    "noted_launches",
    "process_usage",
    "send",
    "to_host",
    "transpose",
    "use_device",
    "view",
    "why_cpu",
    "zeros",
]
