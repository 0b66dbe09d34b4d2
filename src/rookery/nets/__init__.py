"""Neural networks: building, saving, splitting and exporting them, and fast inference."""

from rookery.nets.build import Ensemble, NetConfig, build_net, count_parameters, register_net
from rookery.nets.freeze import check_parts, freeze, frozen_tensors
from rookery.nets.inference.backend import BackendChoice, NotFinite
from rookery.nets.inference.cpu import CPU_BACKENDS, CpuEvaluator, best_seconds
from rookery.nets.inference.gpu import GpuEvaluator, check_backend, fastest_backend
from rookery.nets.inference.gpu_backends import GPU_BACKENDS
from rookery.nets.inference.int8_cpu import MEASURED_ROWS, is_int8_supported
from rookery.nets.inference.mps import MPS_BACKENDS
from rookery.nets.onnx_export import pack_onnx
from rookery.nets.operations import OperationCount, Operations, count_operations
from rookery.nets.spiking import SpikeCount, count_spikes
from rookery.nets.split import NetPart, max_parts, split_net
from rookery.nets.weights import GameSpec, Weights, WeightsHeader, load, pack, save, unpack

__all__ = [
    "CPU_BACKENDS",
    "GPU_BACKENDS",
    "MEASURED_ROWS",
    "MPS_BACKENDS",
    "BackendChoice",
    "CpuEvaluator",
    "Ensemble",
    "GameSpec",
    "GpuEvaluator",
    "NetConfig",
    "NetPart",
    "NotFinite",
    "OperationCount",
    "Operations",
    "SpikeCount",
    "Weights",
    "WeightsHeader",
    "best_seconds",
    "build_net",
    "check_backend",
    "check_parts",
    "count_operations",
    "count_parameters",
    "count_spikes",
    "fastest_backend",
    "freeze",
    "frozen_tensors",
    "is_int8_supported",
    "load",
    "max_parts",
    "pack",
    "pack_onnx",
    "register_net",
    "save",
    "split_net",
    "unpack",
]
