"""The nets: how they are built, written to files, and evaluated fast, on the CPU and on a GPU."""

from rookery.nets.activity import Spikes, count_spikes
from rookery.nets.build import NetConfig, build_net, count_parameters
from rookery.nets.ensemble import Ensemble
from rookery.nets.inference.cpu import CpuEvaluator
from rookery.nets.inference.cpu_backends import CPU_BACKENDS, BackendChoice
from rookery.nets.inference.gpu import GPU_BACKENDS, GpuEvaluator, check_backend
from rookery.nets.onnx_export import pack_onnx
from rookery.nets.split import NetPart, max_parts, split_net
from rookery.nets.weights import GameSpec, Weights, WeightsHeader, load, pack, save, unpack

__all__ = [
    "CPU_BACKENDS",
    "GPU_BACKENDS",
    "BackendChoice",
    "CpuEvaluator",
    "Ensemble",
    "GameSpec",
    "GpuEvaluator",
    "NetConfig",
    "NetPart",
    "Spikes",
    "Weights",
    "WeightsHeader",
    "build_net",
    "check_backend",
    "count_parameters",
    "count_spikes",
    "load",
    "max_parts",
    "pack",
    "pack_onnx",
    "save",
    "split_net",
    "unpack",
]
