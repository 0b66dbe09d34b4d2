"""Inference: the backends that run a network, and the evaluators that use them on CPU and GPU."""
