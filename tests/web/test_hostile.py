"""Thousands of hostile requests: no error of the server, no hang, nothing left behind."""

import json
import socket
import time
from pathlib import Path

import psutil
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect
from websockets.typing import Origin

from hostile_requests import Hostile, questions
from random_runs import random_run
from rookery.interface.web.services import Services
from rookery.interface.web.site import Site
from web_client import client_of, server

REQUESTS, MESSAGES = 1500, 1500
SECONDS = 300.0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "runs").mkdir()
    random_run(tmp_path / "runs" / "random", "tictactoe")
    return tmp_path / "runs"


def test_hostile_requests_get_errors_of_the_client(folder: Path) -> None:
    hostile = Hostile(1)
    with client_of(Site(folders=[folder])) as client:
        for number in range(REQUESTS):
            method, target, headers, body = hostile.request()
            if "/events" in target:
                continue
            answer = client.request(method, target, headers=headers, content=body)
            assert answer.status_code < 500, (number, method, target, body)
            if answer.status_code >= 400 and method != "HEAD" and target.startswith("/api/"):
                assert answer.json()["error"], (number, method, target)
    assert sorted(path.name for path in folder.iterdir()) == ["random"]


def test_hostile_messages_get_answers(folder: Path) -> None:
    with client_of(Site(folders=[folder])) as client:
        services: Services = client.app.state.services  # type: ignore[attr-defined]
        with client.websocket_connect("/api/play") as socket:
            for message in questions(2, MESSAGES):
                socket.send_text(message)
                socket.send_text('{"id": "still there?", "do": "view", "game": "tictactoe"}')
                while (answer := json.loads(socket.receive_text()))["id"] != "still there?":
                    assert "could not answer" not in answer.get("error", ""), message
        until = time.monotonic() + SECONDS
        while len(services.searches):
            assert time.monotonic() < until
            time.sleep(0.01)
        assert services.trees.bytes == 0 and len(services.trees) == 0


def test_a_server_survives_broken_connections(folder: Path, tmp_path: Path) -> None:
    hostile = Hostile(3)
    with server(str(folder), folder=tmp_path) as (process, address):
        port = int(address.rstrip("/").rpartition(":")[2])
        for number in range(200):
            if number % 4:
                with socket.create_connection(("127.0.0.1", port), SECONDS) as connection:
                    connection.sendall(hostile.raw())
            else:
                abandon(f"ws://127.0.0.1:{port}/api/play", hostile)
            if number == 40:
                before = resources(process.pid)
        check_alive(port)
        until = time.monotonic() + SECONDS
        while not is_level(before, resources(process.pid)):
            assert time.monotonic() < until, (before, resources(process.pid))
            time.sleep(0.5)
        process.terminate()
        process.wait(SECONDS)
        assert process.stderr is not None and "Traceback" not in process.stderr.read()


def abandon(address: str, hostile: Hostile) -> None:
    """Ask something, then leave without waiting for the answer."""
    origin = address.replace("ws://", "http://").removesuffix("/api/play")
    with connect(address, origin=Origin(origin), open_timeout=SECONDS) as connection:
        for _ in range(3):
            try:
                connection.send(hostile.question())
            except ConnectionClosed:
                return


def check_alive(port: int) -> None:
    with connect(
        f"ws://127.0.0.1:{port}/api/play",
        origin=Origin(f"http://127.0.0.1:{port}"),
        open_timeout=SECONDS,
    ) as connection:
        connection.send('{"id": 1, "do": "view", "game": "tictactoe"}')
        assert "view" in json.loads(connection.recv(SECONDS))


def resources(pid: int) -> tuple[int, int]:
    """Threads and open files, sockets among them."""
    process = psutil.Process(pid)
    return process.num_threads(), process.num_fds()


def is_level(before: tuple[int, int], now: tuple[int, int]) -> bool:
    """Whether no more is in use; pools of threads may still have grown a little."""
    return now[0] <= before[0] + 8 and now[1] <= before[1] + 8
