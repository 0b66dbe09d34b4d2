"""The priority of threads that compute for the web app."""

import os
import sys
import threading

NICENESS = 10


def lower_priority() -> None:
    """Let other processes go first, as far as this system allows; on Linux for this thread only."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
