"""The WebSocket of play and analysis: questions in, answers with the same id out.

Every question carries its whole position, so the server keeps nothing but running searches and
the trees of analyses. Both end when the socket closes.

    view      the position
    move      a move of a player, and the position after it
    analyse   deepening search of a position
    report    a value for every position of a game
    tree      the moves in the tree of an analysis, after a path
    stop      end a question
"""

import asyncio
import json
import logging
from collections import deque
from contextlib import suppress
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from rookery.api import Net
from rookery.base import ConfigError, RookeryError
from rookery.interface.web import limits
from rookery.interface.web.boards import view_of
from rookery.interface.web.engine import FAILED, Answer, Job, Steps, to_loop
from rookery.interface.web.limits import read_number, read_seconds, read_text, read_texts
from rookery.interface.web.searches import (
    Asked,
    analyse_steps,
    children,
    move_steps,
    report_steps,
)
from rookery.interface.web.services import Services

Question = dict[str, Any]
QuestionId = int | str
LONG = ("move", "analyse", "report")
"""Questions that are answered while others are asked."""
MAX_OUTBOX = 64
"""Answers that wait to be sent; until then no further question is read."""
TOO_MANY = 1013
"""Code with which a socket is closed that the server has no room for."""
_log = logging.getLogger(__name__)


class Conversations:
    """Endpoint of the WebSockets; counts them."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._open = 0

    async def hold(self, socket: WebSocket) -> None:
        """Answer the questions of one socket until it closes."""
        if self._open >= limits.MAX_SOCKETS:
            await socket.close(TOO_MANY)
            return
        self._open += 1
        try:
            await socket.accept()
            await Conversation(socket, self._services).hold()
        finally:
            self._open -= 1


class Conversation:
    """The questions of one socket; also their owner in queues."""

    def __init__(self, socket: WebSocket, services: Services) -> None:
        self._socket, self._services = socket, services
        self._outbox = Outbox(socket)
        self._tasks: dict[QuestionId, asyncio.Task[None]] = {}
        self.is_closed = False

    async def hold(self) -> None:
        """Read questions until the socket closes, then end all that runs for it."""
        sender = asyncio.create_task(self._outbox.send_all())
        try:
            while True:
                await self._outbox.has_room()
                message = await self._socket.receive()
                if message["type"] == "websocket.disconnect":
                    break
                await self._read(message.get("text"))
        except (WebSocketDisconnect, OSError, RuntimeError):
            pass  # the client has left
        finally:
            self.is_closed = True
            self._services.trees.drop(self)  # before anything waits: this task may be cancelled
            for task in (*self._tasks.values(), sender):
                task.cancel()
            await asyncio.gather(*self._tasks.values(), sender, return_exceptions=True)
            if self._socket.application_state is not WebSocketState.DISCONNECTED:
                with suppress(WebSocketDisconnect, RuntimeError, OSError):
                    await self._socket.close()

    async def _read(self, text: str | None) -> None:
        """Answer a question at once, or start to."""
        number: QuestionId | None = None
        try:
            question = _parse(text)
            number = _id_of(question)
            do = read_text(question, "do")
            if do == "stop":
                self._stop(question)
            elif do in LONG:
                self._start(number, do, question)
            else:
                self._outbox.put({"id": number, **await self._answer(do, question)})
        except RookeryError as error:
            self._outbox.put({"id": number, "error": str(error)})

    async def _answer(self, do: str, question: Question) -> Answer:
        if do == "view":
            asked = await self._ask(question)
            answer: Answer = await self._services.think(self, lambda: _view(asked))
            return answer
        if do == "tree":
            asked = await self._ask(question, with_player=True)
            path = read_texts(question, "path")
            trees = self._services.trees
            answer = await self._services.think(self, lambda: children(self, asked, trees, path))
            return answer
        raise ConfigError(f"unknown question {do!r}; known: view, {', '.join(LONG)}, tree, stop")

    def _stop(self, question: Question) -> None:
        task = self._tasks.get(_id_of(question, "stop"))
        if task is not None:
            task.cancel()

    def _start(self, number: QuestionId, do: str, question: Question) -> None:
        if len(self._tasks) >= limits.MAX_QUESTIONS:
            raise ConfigError(f"at most {limits.MAX_QUESTIONS} questions at once; stop one first")
        if number in self._tasks:
            raise ConfigError("a question with this id is still open")
        task = asyncio.create_task(self._run(number, do, question))
        self._tasks[number] = task
        task.add_done_callback(lambda done: self._tasks.pop(number, None))

    async def _run(self, number: QuestionId, do: str, question: Question) -> None:
        """Answer a long question; being cancelled, tell that it has ended."""
        try:
            asked = await self._ask(question, with_player=True)
            choice = await self._services.choose(self, asked)
            if do == "move" and choice.kind != "net":
                answer = await self._services.play_plain(self, asked, choice)
                self._outbox.put({"id": number, **answer})
                return
            net = await self._services.net(self, choice)
            steps = self._steps(do, question, asked, net)
            await self._follow(number, steps)
        except RookeryError as error:
            self._outbox.put({"id": number, "error": str(error)})
        except asyncio.CancelledError:
            self._outbox.put({"id": number, "done": True, "stopped": True})
        except Exception:
            _log.exception("a question to the web app failed")
            self._outbox.put({"id": number, "error": FAILED})

    def _steps(self, do: str, question: Question, asked: Asked, net: Net) -> Steps:
        """Return the search of a question."""
        trees = self._services.trees
        if do == "move":
            simulations = read_number(
                question, "simulations", default=100, low=0, high=limits.MAX_SIMULATIONS
            )
            seconds = read_seconds(question)
            return move_steps(asked, net, trees, simulations=simulations, seconds=seconds)
        if do == "report":
            nodes = read_number(question, "nodes", default=50, low=0, high=limits.MAX_REPORT_NODES)
            return report_steps(asked, net, trees, nodes=nodes)
        nodes = read_number(question, "nodes", default=20_000, low=1, high=limits.MAX_NODES)
        lines = read_number(question, "lines", default=8, low=1, high=limits.MAX_LINES)
        return analyse_steps(self, asked, net, trees, nodes=nodes, lines=lines)

    async def _follow(self, number: QuestionId, steps: Steps) -> None:
        """Send the answers of a search until it is done."""
        is_over = asyncio.Event()

        def receive(answer: Answer) -> None:
            if not is_over.is_set():
                self._outbox.put({"id": number, **answer})
                if "error" in answer or "done" in answer:
                    is_over.set()

        job = Job(self, steps, to_loop(receive))
        self._services.searches.submit(job)
        try:
            await is_over.wait()
        finally:
            is_over.set()
            job.is_cancelled = True

    async def _ask(self, question: Question, *, with_player: bool = False) -> Asked:
        key = read_text(question, "game")
        start = read_text(question, "start", longest=limits.MAX_MESSAGE)
        moves = tuple(read_texts(question, "moves"))
        player = read_text(question, "player") if with_player else ""
        return Asked(key, await self._services.game(self, key), start, moves, player)


class Outbox:
    """Answers that wait to be sent; of an analysis only the newest one waits."""

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket
        self._waiting: deque[Answer] = deque()
        self._changed = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()

    def put(self, answer: Answer) -> None:
        """Send an answer soon."""
        if "info" in answer:
            for index, other in enumerate(self._waiting):
                if other["id"] == answer["id"] and "info" in other:
                    self._waiting[index] = answer
                    return
        self._waiting.append(answer)
        self._changed.set()
        if len(self._waiting) >= MAX_OUTBOX:
            self._room.clear()

    async def has_room(self) -> None:
        """Wait until few answers wait."""
        await self._room.wait()

    async def send_all(self) -> None:
        """Send answers for ever."""
        with suppress(WebSocketDisconnect, OSError, RuntimeError):
            while True:
                await self._changed.wait()
                while self._waiting:
                    answer = self._waiting.popleft()
                    await self._socket.send_text(json.dumps(answer, separators=(",", ":")))
                    if len(self._waiting) < MAX_OUTBOX:
                        self._room.set()
                self._changed.clear()
        self._room.set()  # the client has left


def _view(asked: Asked) -> Answer:
    return {"view": view_of(asked.board(), asked.key)}


def _parse(text: str | None) -> Question:
    """Return the question in a message, or raise ConfigError."""
    if text is None or len(text) > limits.MAX_MESSAGE:
        raise ConfigError(f"expected a text of at most {limits.MAX_MESSAGE} bytes")
    try:
        question = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError("the message is not JSON") from error
    if not isinstance(question, dict):
        raise ConfigError("expected a JSON object")
    return question


def _id_of(question: Question, name: str = "id") -> QuestionId:
    number = question.get(name)
    is_text = isinstance(number, str) and len(number) <= limits.MAX_TEXT
    is_number = isinstance(number, int) and not isinstance(number, bool) and abs(number) < 2**53
    if not (is_text or is_number):
        raise ConfigError(f"a question needs {name}, a whole number or a short text")
    assert isinstance(number, int | str)
    return number
