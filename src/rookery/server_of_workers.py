"""Imported first by the server from which workers are forked, and by nothing else.

A server can be told only what to import, and while it imports it does not notice that its
coordinator has ended. So the kernel shall kill it then.
"""

import ctypes
import signal

_PR_SET_PDEATHSIG = 1

ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
