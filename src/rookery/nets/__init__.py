"""The nets: how they are built, written to files, and evaluated fast, on the CPU and on a GPU."""

from rookery.nets.build import NetConfig, build_net, count_parameters
from rookery.nets.cuda import METHODS as CUDA_METHODS
from rookery.nets.cuda import CudaEvaluator
from rookery.nets.inference import METHODS, Choice, Evaluator
from rookery.nets.weights import Header, NetGame, Weights, load, pack, save, unpack

__all__ = [
    "CUDA_METHODS",
    "METHODS",
    "Choice",
    "CudaEvaluator",
    "Evaluator",
    "Header",
    "NetConfig",
    "NetGame",
    "Weights",
    "build_net",
    "count_parameters",
    "load",
    "pack",
    "save",
    "unpack",
]
