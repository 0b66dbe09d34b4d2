"""Every module can be imported without the Unix-only modules of the standard library.

Windows does not have them; here they are blocked in a new process, after psutil and torch, whose
builds for Unix use them.
"""

import subprocess
import sys

SCRIPT = """
import importlib, pkgutil, sys
import psutil, torch.distributed, torch.multiprocessing
for name in ("fcntl", "grp", "pwd", "resource", "termios"):
    sys.modules[name] = None
import rookery
for module in pkgutil.walk_packages(rookery.__path__, "rookery."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
print("imported", sum(name.startswith("rookery.") for name in sys.modules))
"""


def test_all_modules_import_without_unix() -> None:
    command = [sys.executable, "-W", "ignore", "-c", SCRIPT]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.startswith("imported ")
