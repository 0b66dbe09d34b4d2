"""The nets: how they are built, written to files, and evaluated fast, on the CPU and on a GPU."""

from rookery.nets.activity import Spikes, count_spikes
from rookery.nets.build import NetConfig, build_net, count_parameters
from rookery.nets.cuda import METHODS as CUDA_METHODS
from rookery.nets.cuda import CudaEvaluator, check_method
from rookery.nets.ensemble import Ensemble
from rookery.nets.inference import Evaluator
from rookery.nets.methods import METHODS, Choice
from rookery.nets.onnx_file import pack_onnx
from rookery.nets.parts import NetPart, cut_net, most_parts
from rookery.nets.weights import Header, NetGame, Weights, load, pack, save, unpack

__all__ = [
    "CUDA_METHODS",
    "METHODS",
    "Choice",
    "CudaEvaluator",
    "Ensemble",
    "Evaluator",
    "Header",
    "NetConfig",
    "NetGame",
    "NetPart",
    "Spikes",
    "Weights",
    "build_net",
    "check_method",
    "count_parameters",
    "count_spikes",
    "cut_net",
    "load",
    "most_parts",
    "pack",
    "pack_onnx",
    "save",
    "unpack",
]
