"""These tests are for the CUDA simulator; without it, as in the everyday run, none is collected."""

import os

collect_ignore_glob = [] if os.environ.get("NUMBA_ENABLE_CUDASIM") == "1" else ["test_*.py"]
