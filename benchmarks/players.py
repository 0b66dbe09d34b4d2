"""Contestants of a benchmark: processes of their own, each with a limit of time."""

import os
import subprocess


def begin(command: list[str], *, environment: dict[str, str]) -> "subprocess.Popen[str]":
    """Start a contestant; `environment` is added to ours."""
    return subprocess.Popen(
        command,
        text=True,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def end(process: "subprocess.Popen[str]", label: str, *, limit_seconds: float) -> list[str]:
    """The lines it printed; none if it failed or was late, and says so."""
    try:
        out, errors = process.communicate(timeout=max(limit_seconds, 0.1))
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        print(f"{label}: not done in time", flush=True)
        return []
    if process.returncode:
        reason = (errors.strip().splitlines() or ["failed silently"])[-1]
        print(f"{label}: {reason}", flush=True)
        return []
    return out.splitlines()
