"""Clients that leave at any moment: no error, no line in the log, nothing left running."""

import asyncio
import json
import signal
import socket
import struct
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from starlette.types import Message
from websockets.sync.client import connect
from websockets.typing import Origin

from rookery.interface.web import limits
from rookery.interface.web.app import make_app
from rookery.interface.web.site import Site
from web_client import HOST, SECONDS, server

ORIGIN = f"http://{HOST}"
VIEW = {"id": 1, "do": "view", "game": "tictactoe"}
MOVE = {"id": 2, "do": "move", "game": "tictactoe", "player": "minimax:1"}
MOST_SENT = 3


class Client:
    """A WebSocket client that asks two questions and is gone after `stays` answers."""

    def __init__(self, stays: int) -> None:
        questions = [{"type": "websocket.receive", "text": json.dumps(q)} for q in (VIEW, MOVE)]
        self.messages: list[Message] = [{"type": "websocket.connect"}, *questions]
        self.stays = stays
        self.tried_to_send = asyncio.Event()

    async def receive(self) -> Message:
        if self.messages:
            return self.messages.pop(0)
        await self.tried_to_send.wait()
        return {"type": "websocket.disconnect", "code": 1006}

    async def send(self, message: Message) -> None:
        self.stays -= 1
        if self.stays < 0:
            self.tried_to_send.set()
            raise OSError("the client has left")  # as uvicorn does


def visit(client: Client, path: str = "/api/play", origin: str = ORIGIN) -> None:
    """Serve one socket of a client."""
    scope: dict[str, Any] = {"type": "websocket", "path": path, "query_string": b""}
    scope |= {"headers": [(b"host", HOST.encode()), (b"origin", origin.encode())]}
    app = make_app(Site())

    async def serve() -> None:
        await asyncio.wait_for(app(scope, client.receive, client.send), SECONDS)

    try:
        asyncio.run(serve())
    finally:
        app.state.services.close()


@pytest.mark.parametrize("stays", range(MOST_SENT))
def test_a_send_to_a_client_that_left_is_no_error(
    stays: int, caplog: pytest.LogCaptureFixture
) -> None:
    client = Client(stays)
    visit(client)
    assert client.stays < 0 and not caplog.records


@pytest.mark.parametrize(
    ("path", "origin"), [("/nowhere", ORIGIN), ("/api/play", "http://evil.example")]
)
def test_nor_is_a_refusal_that_nobody_hears(path: str, origin: str) -> None:
    client = Client(0)
    visit(client, path, origin)
    assert client.stays < 0


def test_nor_is_one_socket_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_SOCKETS", 0)
    client = Client(0)
    visit(client)
    assert client.stays < 0


def test_connections_that_break_leave_no_line_in_the_log(tmp_path: Path) -> None:
    with server(folder=tmp_path) as (process, address):
        parts = urlsplit(address)
        url = f"ws://{parts.netloc}/api/play"
        for number in range(24):
            origin = Origin(f"http://{parts.netloc}")
            with connect(url, origin=origin, open_timeout=SECONDS) as client:
                for question in (VIEW, MOVE)[: number % 3]:
                    client.send(json.dumps(question))
                reset(client.socket)
        half_a_handshake(parts.hostname or "", parts.port or 0)
        time.sleep(1)
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=SECONDS)
    assert "Traceback" not in errors, errors


def reset(connection: socket.socket) -> None:
    """Break a connection off, as a machine that is switched off does."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def half_a_handshake(host: str, port: int) -> None:
    """Ask for a WebSocket and leave before the answer."""
    lines = ["GET /api/play HTTP/1.1", f"Host: {host}:{port}", f"Origin: http://{host}:{port}"]
    lines += ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"]
    lines += ["Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", "", ""]
    for _ in range(8):
        connection = socket.create_connection((host, port), SECONDS)
        connection.sendall("\r\n".join(lines).encode())
        reset(connection)
