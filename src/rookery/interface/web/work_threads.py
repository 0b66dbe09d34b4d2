"""Threads that compute for the web app."""

import os
import sys
import threading

import torch

NICENESS = 10


def prepare_thread() -> None:
    """Let other processes go first, on Linux, and let torch use this thread alone."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
    torch.set_num_threads(1)
