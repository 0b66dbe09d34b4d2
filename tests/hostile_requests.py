"""Hostile requests and messages to the web app, always the same for a seed.

They are made from what the app understands, changed at random: wrong types, huge and odd texts,
broken JSON, paths, methods and headers. None of them may start a run.
"""

import json
import random
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

GAMES = ["tictactoe", "connect4", "chess", "nothing", "../x", "tictactoe.py", ""]
PLAYERS = [
    "random",
    "minimax:1",
    "run:random",
    "run:random@1",
    "run:x",
    "uci:sh",
    "bundled@1",
    "solver",
]
DOES = ["view", "view", "view", "move", "analyse", "report", "tree", "stop", "fly", ""]
METHODS = [
    "GET",
    "GET",
    "GET",
    "POST",
    "PUT",
    "DELETE",
    "HEAD",
    "OPTIONS",
    "PATCH",
    "TRACE",
    "BREW",
]
PATHS = [
    "/",
    "/static/main.js",
    "/static/../app.py",
    "/api/games",
    "/api/players?game=chess",
    "/api/games/read",
    "/api/games/write",
    "/api/runs",
    "/api/runs/random",
    "/api/runs/random/stats?points=10",
    "/api/runs/random/games?iteration=1",
    "/api/runs/random/doctor",
    "/api/runs/../../etc",
    "/api/play",
    "/api/training",
]
ODD_TEXTS = [
    "",
    "\0",
    "\ud800",
    "%00",
    "../../../../etc/passwd",
    "\u202e\U0001f600",
    "-1",
    "1e999",
    "9" * 400,
    "4" * 5000,
    "<script>alert(1)</script>",
    "e2e4",
    "1. e4 e5 (2. d4",
    "8/8/8/8/8/8/8/8 w - - 0 1",
    "startpos moves e2e4 e2e4",
    "'; DROP TABLE runs; --",
]
ODD_VALUES: list[Any] = [None, True, -1, 0, 2**70, 1.5, -1e308, [], {}, [[]], {"a": 1}]


class Hostile:
    """Requests by seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def text(self) -> str:
        """Any text."""
        pick = self._random
        if pick.random() < 0.7:
            return pick.choice(ODD_TEXTS)
        return "".join(chr(pick.randrange(1, 0x2FF)) for _ in range(pick.randrange(200)))

    def value(self) -> Any:
        """Any value of JSON."""
        pick = self._random
        return self.text() if pick.random() < 0.5 else pick.choice(ODD_VALUES)

    def question(self) -> str:
        """A message to the WebSocket: a cheap question, or nearly one."""
        pick = self._random
        question: dict[str, Any] = {
            "id": pick.randrange(100),
            "do": pick.choice(DOES),
            "game": pick.choice(GAMES),
            "player": pick.choice(PLAYERS),
            "start": "" if pick.random() < 0.7 else self.text(),
            "moves": [str(pick.randrange(1, 10)) for _ in range(pick.randrange(6))],
            "simulations": pick.randrange(20),
            "nodes": pick.randrange(20),
            "lines": pick.randrange(5),
            "path": [],
            "stop": pick.randrange(100),
        }
        for name in pick.sample(sorted(question), pick.choice([0, 0, 1, 1, 2, 3])):
            question[name] = self.value()
        if not isinstance(question["nodes"], int) or question["nodes"] > 100:
            question["do"] = "view"  # searches stay short
        text = json.dumps(question)
        return text if pick.random() < 0.9 else self.broken(text)

    def broken(self, text: str) -> str:
        """A text with something cut out, doubled or inserted."""
        pick, at = self._random, self._random.randrange(len(text))
        how = pick.randrange(3)
        if how == 0:
            return text[:at]
        return text[:at] + (text[at:] * 3 if how == 1 else self.text() + text[at:])

    def request(self) -> tuple[str, str, dict[str, str], bytes]:
        """Method, target, headers and body of an HTTP request."""
        pick = self._random
        method, target = pick.choice(METHODS), pick.choice(PATHS)
        if pick.random() < 0.3:
            target += quote(self.text().encode("utf-8", "replace"))
        if pick.random() < 0.2:
            target += f"?{quote(self.text().encode('utf-8', 'replace'))}={pick.randrange(10)}"
        headers = {}
        for name in ("range", "if-none-match", "accept-encoding", "cookie", "content-type"):
            if pick.random() < 0.1:
                headers[name] = self.text().encode("ascii", "ignore").decode().strip("\0\r\n\t ")
        body = b""
        if method in ("POST", "PUT", "PATCH"):
            given = {"game": pick.choice(GAMES), "text": self.text(), "moves": self.value()}
            plain = json.dumps(given if pick.random() < 0.8 else self.value())
            body = (plain if pick.random() < 0.8 else self.broken(plain)).encode("utf-8", "replace")
            if target.startswith("/api/runs"):
                headers["origin"] = "http://evil.example"  # refused: no run starts here
        return method, target, headers, body

    def raw(self) -> bytes:
        """Bytes that are no HTTP request, or nearly one."""
        pick = self._random
        lines = [b"GET / HTTP/1.1", b"Host: 127.0.0.1", b"Upgrade: websocket", b"\xff" * 50]
        lines += [b"Content-Length: 99999999999", b"Transfer-Encoding: chunked", b"A" * 9000]
        chosen = [pick.choice(lines) for _ in range(pick.randrange(1, 6))]
        return b"\r\n".join(chosen) + pick.choice([b"\r\n\r\n", b"\n", b""])


def questions(seed: int, count: int) -> Iterator[str]:
    """Yield `count` hostile messages."""
    hostile = Hostile(seed)
    return (hostile.question() for _ in range(count))
