"""Imported first by the server from which workers are forked, and by nothing else.

A server can be told only what to import, and while it imports it does not notice that its
coordinator has ended. So the kernel shall kill it then. A SIGTERM to all processes of a run is for
the coordinator, which still needs the server to stop in order.
"""

import ctypes
import signal

_PR_SET_PDEATHSIG = 1

ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
