"""The command `rookery serve`: its start, its end, and its mistakes."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from rookery.interface.cli.app import run
from web_client import server

SECONDS = 120


def fail(*words: str, folder: Path, path: str | None = None) -> str:
    """Run the command, which must end with code 2; return its one line."""
    environment = {**os.environ, "PYTHONPATH": path or os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "rookery", "serve", "--no-browser", *words]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS
    )
    assert done.returncode == 2 and done.stdout == "", done
    assert done.stderr.count("\n") == 1 and done.stderr.startswith("rookery: ")
    return done.stderr


def test_it_serves_until_ctrl_c(tmp_path: Path) -> None:
    with server(folder=tmp_path) as (process, address):
        assert address.startswith("http://127.0.0.1:") and "token" not in address
        assert "Rookery" in httpx.get(address, timeout=SECONDS).text
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=SECONDS)
        assert process.returncode == 0 and err == ""


def test_it_opens_the_browser_at_its_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr("uvicorn.Server.run", lambda server, sockets: None)
    assert run(["serve", str(tmp_path), "--port", "0"]) == 0
    until = time.monotonic() + SECONDS
    while not opened:
        assert time.monotonic() < until
        time.sleep(0.01)
    assert opened[0].startswith("http://127.0.0.1:") and opened[0] in capsys.readouterr().out


def test_another_address_prints_a_token_once(tmp_path: Path) -> None:
    with server("--host", "0.0.0.0", folder=tmp_path) as (process, address):
        port = httpx.URL(address).port
        token = httpx.URL(address).params["token"]
        assert len(token) >= 32
        local = f"http://127.0.0.1:{port}/"
        assert httpx.get(local, timeout=SECONDS).status_code == 401
        answer = httpx.get(local, params={"token": token}, timeout=SECONDS)
        assert answer.status_code == 303
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=SECONDS)
        assert token not in out + err


def test_a_taken_port_is_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        line = fail("--port", port, folder=tmp_path)
    assert port in line and "--port" in line


def test_without_the_extra_it_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "uvicorn.py").write_text("raise ImportError('not here')\n")
    path = os.pathsep.join([str(tmp_path), *sys.path])
    line = fail(folder=tmp_path, path=path)
    assert "pip install 'rookery[web]'" in line


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("nowhere",), "nowhere is neither"),
        (("--host", "no.such.host.invalid"), "no.such.host.invalid"),
        (("--host", "0.0.0.0", "--token", ""), "at least 16 characters"),
        (("--engine", "uci:no-such-engine"), "no-such-engine"),
        (("--devices", "no-such-device"), "no-such-device"),
    ],
)
def test_mistakes_are_one_line(tmp_path: Path, words: tuple[str, ...], told: str) -> None:
    assert told in fail(*words, folder=tmp_path)
