"""Clients of the web app for tests: in this process, or of a server process of its own."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient, WebSocketTestSession

from rookery.interface.web.app import make_app
from rookery.interface.web.site import Site

HOST = "127.0.0.1:8765"
HEADERS = {"host": HOST, "origin": f"http://{HOST}"}
SECONDS = 120


@contextmanager
def client_of(site: Site | None = None, **headers: str) -> Iterator[TestClient]:
    """A client of an app in this process, which looks like a page of it."""
    app = make_app(site or Site())
    sent = {**HEADERS, **headers}
    with TestClient(app, base_url=f"http://{HOST}", headers=sent, follow_redirects=False) as found:
        yield found


def ask(socket: WebSocketTestSession, question: dict[str, Any]) -> list[dict[str, Any]]:
    """All answers to one question, in their order."""
    socket.send_text(json.dumps({"id": 1, **question}))
    answers: list[dict[str, Any]] = []
    while not answers or not ({"error", "done", "view", "children"} & answers[-1].keys()):
        answers.append(json.loads(socket.receive_text()))
        assert answers[-1]["id"] == 1
    return answers


@contextmanager
def server(*words: str, folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process of `rookery serve` and its address; it is killed at the end if need be."""
    command = [sys.executable, "-m", "rookery", "serve", "--no-browser", "--port", "0", *words]
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r"http://\S+", line)
        assert found, f"{line} {process.stderr.read() if process.stderr else ''}"
        yield process, found[0]
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.communicate()
