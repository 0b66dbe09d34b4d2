"""Where trainers work, and how they are started there."""

import os
from dataclasses import dataclass

import torch

from rookery.training.actors.actor import thread_limits
from rookery.workers import Cluster, ProcessWorker, Worker, WorkerFunction

QUIET = {"TORCH_CPP_LOG_LEVEL": "ERROR"}
"""Torch would warn of every connection that breaks; the team says who was lost."""


@dataclass(frozen=True)
class TrainerPlacement:
    """Where trainers work."""

    devices: tuple[torch.device, ...]
    """Trainer n works on the n-th, and round again."""
    workers: int
    cluster: Cluster | None = None
    threads: int = 0
    """Of each; 0 = what there is, shared out."""

    def device(self, number: int) -> str:
        """Where trainer `number` works, as it sees it."""
        device = self.devices[number % len(self.devices)]
        return "cuda:0" if self.cluster is not None and device.type == "cuda" else str(device)

    @property
    def backend(self) -> str:
        """NCCL asks for a GPU a rank."""
        alone = self.devices[0].type == "cuda" and self.workers <= len(self.devices)
        return "nccl" if alone else "gloo"

    def threads_each(self) -> int:
        """Threads of a trainer."""
        cores = 1 if self.cluster is not None else (os.cpu_count() or 1) // self.workers
        return self.threads or max(1, cores)

    def start(
        self, name: str, number: int, role: WorkerFunction, *, config: str, digest: str
    ) -> Worker:
        """A trainer at its post, with the run's `config` and the SHA-256 of its rules file."""
        job = {"config": config, "digest": digest, "device": self.device(number)}
        environment = {**thread_limits(self.threads_each()), **QUIET}
        if self.cluster is None:
            return ProcessWorker(name, role, job, environment=environment)
        on_gpu = job["device"] != "cpu"
        return self.cluster.start(
            name,
            role,
            job,
            threads=self.threads_each(),
            gpus=min(1.0, len(self.devices) / self.workers) if on_gpu else 0.0,
            environment=environment,
        )
