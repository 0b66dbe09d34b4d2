"""The nets: how they are built, written to files, and evaluated fast on the CPU."""

from rookery.nets.build import NetConfig, build_net, count_parameters
from rookery.nets.inference import METHODS, Choice, Evaluator
from rookery.nets.weights import Header, NetGame, Weights, load, pack, save, unpack

__all__ = [
    "METHODS",
    "Choice",
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
