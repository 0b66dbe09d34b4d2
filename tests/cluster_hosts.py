"""Two hosts on one machine: network namespaces with a virtual cable, each with a Ray node."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

HEAD, NODE, PROBE = (f"rookery-{name}-{os.getpid()}" for name in ("head", "node", "probe"))
ADDRESSES = {HEAD: "10.88.0.1", NODE: "10.88.0.2"}
PORT = 6379
CPUS = 2
PATHS = os.pathsep.join(str(Path(__file__).parents[0] / name) for name in ("", "../src"))
ENVIRONMENT = os.environ | {
    "PYTHONPATH": PATHS,
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_health_check_period_ms": "1000",  # a machine that is cut off is soon reported lost
    "RAY_health_check_timeout_ms": "1000",
    "RAY_health_check_failure_threshold": "5",
    "RAY_AUTH_MODE": "token",
    "RAY_AUTH_TOKEN": "0123456789abcdef" * 4,
}


def lacks() -> str:
    """Why hosts are impossible on this machine; empty if they are possible."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        return "needs root and the command ip (iproute2)"
    made = subprocess.run(["ip", "netns", "add", PROBE], capture_output=True, text=True)
    subprocess.run(["ip", "netns", "del", PROBE], capture_output=True)
    return made.stderr.strip()


class Hosts:
    """Both hosts, their cable, and all programs that run on them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._started: list[subprocess.Popen[str]] = []

    def build(self) -> None:
        """Create both hosts and connect them."""
        for name in ADDRESSES:
            _ip("netns", "add", name)
            (self._folder / name).mkdir()
        _ip("link", "add", "cable", "netns", HEAD, "type", "veth", "peer", "cable", "netns", NODE)
        for name, address in ADDRESSES.items():
            _ip("-n", name, "address", "add", f"{address}/24", "dev", "cable")
            _ip("-n", name, "link", "set", "lo", "up")
        self.join()

    def cut(self) -> None:
        """Drop all packets between the hosts, without notice."""
        _ip("-n", NODE, "link", "set", "cable", "down")

    def join(self) -> None:
        """Let all packets pass between the hosts."""
        for name in ADDRESSES:
            _ip("-n", name, "link", "set", "cable", "up")

    def start_ray(self, name: str) -> None:
        """Start a Ray node on a host and wait until it runs."""
        address = f"{ADDRESSES[HEAD]}:{PORT}"
        there = ["--head", f"--port={PORT}", "--include-dashboard=false"]
        self.run(
            name,
            "ray.scripts.scripts",
            "start",
            *(there if name == HEAD else [f"--address={address}"]),
            f"--node-ip-address={ADDRESSES[name]}",
            f"--num-cpus={CPUS}",
            "--object-store-memory=200000000",
            "--block",
        )
        wait_until(lambda: self.has_ray(name), 60.0)

    def run(self, name: str, module: str, *arguments: str) -> "subprocess.Popen[str]":
        """Run a Python module on a host, which has its own /tmp/ray."""
        script = f'mkdir -p /tmp/ray && mount --bind {self._folder / name} /tmp/ray && exec "$@"'
        command = ["sh", "-c", script, "sh", sys.executable, "-m", module, *arguments]
        with (self._folder / f"{name} {len(self._started)}.txt").open("w") as errors:
            process = subprocess.Popen(
                ["ip", "netns", "exec", name, *command],
                env=ENVIRONMENT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        self._started.append(process)
        return process

    def errors(self, name: str) -> str:
        """The standard error of the last program that was started on a host."""
        return (self._folder / f"{name} {len(self._started) - 1}.txt").read_text()

    def pids(self, name: str) -> set[int]:
        """The processes of a host."""
        found = subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True)
        return {int(word) for word in found.stdout.split()}

    def kill_all(self, name: str) -> None:
        """Kill all processes of a host at once."""
        while pids := self.pids(name):
            for pid in pids:
                _kill(pid)
            time.sleep(0.05)

    def remove(self) -> None:
        """End all programs, and remove the hosts."""
        for name in ADDRESSES:
            self.kill_all(name)
            subprocess.run(["ip", "netns", "del", name], capture_output=True)
        for process in self._started:
            process.communicate()

    def has_ray(self, name: str) -> bool:
        """Whether a Ray node runs on a host."""
        for pid in self.pids(name):
            try:
                if "raylet/raylet" in Path(f"/proc/{pid}/cmdline").read_text():
                    return True
            except OSError:
                continue
        return False


def wait_until(is_so: Callable[[], object], seconds: float, what: object = "") -> float:
    """Wait until something is true; return the seconds that it took."""
    begun = time.monotonic()
    while not is_so():
        assert time.monotonic() - begun < seconds, what
        time.sleep(0.05)
    return time.monotonic() - begun


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)
