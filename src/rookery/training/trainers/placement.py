"""On which devices trainers run, and how they are started."""

from dataclasses import dataclass

import torch

from rookery.base import available_cores
from rookery.training.trainers.trainer import TrainerJob
from rookery.workers import Cluster, ProcessWorker, Worker, WorkerFunction, thread_limits

QUIET = {"TORCH_CPP_LOG_LEVEL": "ERROR"}
"""Torch would print a warning for every broken connection; the pool reports lost trainers."""


@dataclass(frozen=True)
class TrainerPlacement:
    """On which devices trainers run."""

    devices: tuple[torch.device, ...]
    """Trainer n runs on device n modulo their number."""
    workers: int
    cluster: Cluster | None = None
    threads: int = 0
    """Threads of each trainer; 0 = its share of the machine's cores."""

    @property
    def backend(self) -> str:
        """The backend of torch.distributed: NCCL needs one GPU per rank."""
        has_own_gpu = self.devices[0].type == "cuda" and self.workers <= len(self.devices)
        return "nccl" if has_own_gpu else "gloo"

    def device(self, number: int) -> str:
        """Return the device of trainer `number`, as the trainer sees it."""
        device = self.devices[number % len(self.devices)]
        return "cuda:0" if self.cluster is not None and device.type == "cuda" else str(device)

    def place(self, number: int) -> tuple[str, int, float]:
        """Return the device of trainer `number`, its threads, and its share of a cluster's GPU."""
        cores = 1 if self.cluster is not None else available_cores() // self.workers
        device = self.device(number)
        gpus = 0.0 if device == "cpu" else min(1.0, len(self.devices) / self.workers)
        return device, self.threads or max(1, cores), gpus

    def start(
        self,
        name: str,
        number: int,
        function: WorkerFunction[TrainerJob],
        *,
        config: str,
        digest: str,
        heartbeat_seconds: float,
    ) -> Worker:
        """Start a trainer with the run's `config` and the SHA-256 of its rules file."""
        device, threads, gpus = self.place(number)
        job, environment = TrainerJob(config, digest, device), {**thread_limits(threads), **QUIET}
        if self.cluster is None:
            return ProcessWorker(
                name, function, job, environment=environment, heartbeat_seconds=heartbeat_seconds
            )
        return self.cluster.start(
            name,
            function,
            job,
            threads=threads,
            gpus=gpus,
            environment=environment,
            heartbeat_seconds=heartbeat_seconds,
        )
