"""The routes of runs: list, page, curves, news, games, findings, and start, stop and resume."""

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from rookery.api import open_run
from rookery.base import ConfigError, RookeryError, read_whole
from rookery.games import game_names, load_game
from rookery.interface.web.engine import Engine
from rookery.interface.web.live_run import LiveRun
from rookery.interface.web.plain_json import PlainResponse, to_text
from rookery.interface.web.run_control import RunControl
from rookery.interface.web.run_games import MAX_GAMES_SHOWN, newest_games
from rookery.interface.web.run_page import measurements, page, settings, summary
from rookery.interface.web.run_shelf import RunShelf, UnknownRun
from rookery.training import RunFolder, recipe_for

MAX_POINTS = 5000
MAX_BODY = 64 * 1024
MAX_STREAMS = 64
MAX_MINUTES = 10_000_000
POLL_SECONDS = 1.0
"""Time between two looks at the files of a run that somebody watches."""
HEARTBEAT_SECONDS = 15.0
LIST_SECONDS = 0.5
"""Time for reading runs that were not read yet, per request of the list; others follow later."""

Plain = dict[str, Any]
Answer = Callable[[Request], Awaitable[Response]]


def run_routes(
    shelf: RunShelf,
    rules: Iterable[Path] = (),
    *,
    doctor: Engine | None = None,
    refusal: str = "",
) -> list[Route]:
    """Return the routes of the runs of a shelf; new ones may be of shipped games and of `rules`.

    `doctor` examines runs, which takes seconds each. `refusal` says why nobody may start, stop or
    resume runs; empty if everybody may whose request arrives here.
    """
    games = {name: name for name in game_names()}
    games |= {load_game(str(path)).name: os.path.realpath(path) for path in rules}
    doctor = doctor or Engine(1, name="doctor")
    return RunPages(shelf, RunControl(shelf, games), doctor, refusal).routes()


class RunPages:
    """Answers requests about the runs of a shelf."""

    def __init__(self, shelf: RunShelf, control: RunControl, doctor: Engine, refusal: str) -> None:
        self._shelf, self._control, self._doctor, self._refusal = shelf, control, doctor, refusal
        self._streams = 0

    def routes(self) -> list[Route]:
        """Return all routes."""
        one = "/api/runs/{run}"
        return [
            Route("/api/training", _safely(self.training), methods=["GET"]),
            Route("/api/runs", _safely(self.overview), methods=["GET"]),
            Route("/api/runs", _safely(self.start), methods=["POST"]),
            Route(one, _safely(self.page), methods=["GET"]),
            Route(f"{one}/stats", _safely(self.stats), methods=["GET"]),
            Route(f"{one}/events", _safely(self.events), methods=["GET"]),
            Route(f"{one}/games", _safely(self.games), methods=["GET"]),
            Route(f"{one}/doctor", _safely(self.doctor), methods=["GET"]),
            Route(f"{one}/stop", _safely(self.stop), methods=["POST"]),
            Route(f"{one}/resume", _safely(self.resume), methods=["POST"]),
        ]

    async def overview(self, request: Request) -> Response:
        """Answer with all runs."""
        return PlainResponse(await run_in_threadpool(self._overview))

    def _overview(self) -> list[Plain]:
        runs = self._shelf.runs()
        until, rows = time.monotonic() + LIST_SECONDS, []
        for run in runs:
            if run.version or time.monotonic() < until:
                run.refresh()
            rows.append(self._told(run, summary) if run.version else _unread(run))
        return rows

    async def page(self, request: Request) -> Response:
        """Answer with one run."""
        run = await self._run(request)
        shown = await run_in_threadpool(self._told, run, page)
        return PlainResponse({**shown, "control": not self._refusal})

    async def stats(self, request: Request) -> Response:
        """Answer with the curves of a run, thinned."""
        points = _whole(request, "points", 1000, (1, MAX_POINTS))
        first = _whole(request, "from", 0, (0, 2**31))
        run = await self._run(request)
        return PlainResponse(await run_in_threadpool(_curves, run, points, first))

    async def events(self, request: Request) -> Response:
        """Answer with a stream of what is new in a run."""
        row = _whole(request, "rows", 0, (0, 2**31))
        era = _whole(request, "era", 0, (0, 2**31))
        run = await self._run(request)
        if self._streams >= MAX_STREAMS:
            return _failure("too many pages watch runs; close some", 503)
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        news = self._news(run, row, era)
        return StreamingResponse(news, media_type="text/event-stream", headers=headers)

    async def _news(self, run: LiveRun, row: int, era: int) -> AsyncIterator[str]:
        """Yield a message for every change, and a comment now and then."""
        seen, measured, spoke = None, "", time.monotonic()
        self._streams += 1
        try:
            yield "retry: 2000\n\n"
            while True:
                sign = await run_in_threadpool(self._sign, run)
                if sign != seen:
                    seen, news = sign, await run_in_threadpool(self._message, run, row, era)
                    row, era = news["rows"], news["era"]
                    curves = to_text(news["measurements"])
                    if curves == measured:
                        del news["measurements"]
                    measured, spoke = curves, time.monotonic()
                    yield f"data: {to_text(news)}\n\n"
                elif time.monotonic() - spoke >= HEARTBEAT_SECONDS:
                    spoke = time.monotonic()
                    yield ": still here\n\n"
                await asyncio.sleep(POLL_SECONDS)
        finally:
            self._streams -= 1

    def _sign(self, run: LiveRun) -> tuple[int, str, str]:
        run.refresh()
        return run.version, self._control.state(run), self._control.problem(run)

    def _message(self, run: LiveRun, row: int, era: int) -> Plain:
        """Return the page of a run, and its rows after `row` unless they were replaced."""
        with run.lock:
            is_same = era == run.era
            columns = run.columns.rows(row) if is_same and len(run.columns) - row > 0 else {}
            news = {"rows": len(run.columns), "era": run.era, "columns": columns}
            return {**news, "measurements": measurements(run), "run": self._told(run, page)}

    async def games(self, request: Request) -> Response:
        """Answer with the newest games of a run."""
        count = _whole(request, "games", 100, (1, MAX_GAMES_SHOWN))
        asked = request.query_params.get("iteration")
        iteration = None if not asked else _whole(request, "iteration", 0, (0, 2**31))
        run = await self._run(request)
        games = await run_in_threadpool(
            _of_run, run, lambda: newest_games(RunFolder(run.path), count, iteration)
        )
        return PlainResponse(games)

    async def doctor(self, request: Request) -> Response:
        """Answer with what `rookery doctor` finds."""
        run = await self._run(request)
        found = self._doctor.call(request, lambda: _of_run(run, lambda: _findings(run)))
        return PlainResponse(await found)

    async def training(self, request: Request) -> Response:
        """Answer with what a new run can be of, and whether one may be started."""
        reason = self._refusal
        if not reason and self._shelf.home is None:
            reason = "there is no folder for new runs"
        games = await run_in_threadpool(self._games)
        return PlainResponse({"games": games, "refused": reason})

    def _games(self) -> list[Plain]:
        found = []
        for name, source in self._control.games.items():
            config = recipe_for(source, None, on_gpu=False)
            changeable = settings(config)
            found.append({"name": name, "recipe": config.recipe, "settings": changeable})
        return found

    async def start(self, request: Request) -> Response:
        """Start a run."""
        body = await self._body(request)
        game, changes = body.get("game"), body.get("settings") or {}
        if not isinstance(game, str) or not isinstance(changes, dict):
            raise ConfigError("expected game, minutes, and settings by name")
        minutes = _minutes(body)
        run = await run_in_threadpool(self._control.start, game, minutes, changes)
        return PlainResponse({"id": run.name, "state": run.state}, status_code=201)

    async def stop(self, request: Request) -> Response:
        """Stop a run."""
        await self._body(request)
        return await self._change(request, self._control.stop)

    async def resume(self, request: Request) -> Response:
        """Resume a run."""
        minutes = _minutes(await self._body(request))
        return await self._change(request, lambda run: self._control.resume(run, minutes))

    async def _change(self, request: Request, change: Callable[[LiveRun], LiveRun]) -> Response:
        run = await self._run(request)
        await run_in_threadpool(_of_run, run, lambda: change(run))
        return PlainResponse({"id": run.name, "state": self._control.state(run)})

    async def _run(self, request: Request) -> LiveRun:
        found = await run_in_threadpool(self._shelf.run, str(request.path_params["run"]))
        return await run_in_threadpool(found.refresh)

    async def _body(self, request: Request) -> Plain:
        """Return the body of a request that changes something, if it may."""
        if self._refusal:
            raise _Refused(self._refusal)
        content = b""
        async for part in request.stream():
            content += part
            if len(content) > MAX_BODY:
                raise ConfigError(f"the request is longer than {MAX_BODY} bytes")
        try:
            body = json.loads(content or b"{}")
        except (ValueError, RecursionError):
            body = None
        if not isinstance(body, dict):
            raise ConfigError("expected a JSON object")
        return body

    def _told(self, run: LiveRun, tell: Callable[[LiveRun], Plain]) -> Plain:
        """Return what `tell` says of a run, with what its process says."""
        state, problem = self._control.state(run), self._control.problem(run)
        with run.lock:
            told = tell(run)
        return {**told, "state": state, "notes": [*told["notes"], *([problem] if problem else [])]}


class _Refused(Exception):
    """A request that may not control runs."""


def _safely(answer: Answer) -> Answer:
    """Return `answer` with errors of users as one sentence."""

    async def endpoint(request: Request) -> Response:
        try:
            return await answer(request)
        except _Refused as error:
            return _failure(str(error), 403)
        except RookeryError as error:
            return _failure(str(error), 404 if isinstance(error, UnknownRun) else 400)
        except OSError as error:
            return _failure(_unreadable(error), 400)

    return endpoint


def _failure(text: str, status: int) -> Response:
    return PlainResponse({"error": text}, status_code=status)


def _of_run(run: LiveRun, work: Callable[[], Any]) -> Any:
    """Return the result of `work`; its errors do not tell where the run lies."""
    try:
        return work()
    except RookeryError as error:
        raise RookeryError(run.without_path(str(error))) from error
    except OSError as error:
        raise RookeryError(_unreadable(error)) from error


def _unreadable(error: OSError) -> str:
    return f"the run cannot be read: {error.strerror or 'input or output'}"


def _unread(run: LiveRun) -> Plain:
    return {"id": run.name, "game": "", "state": "reading", "iterations": 0, "notes": []}


def _curves(run: LiveRun, points: int, first: int) -> Plain:
    with run.lock:
        columns = run.columns.thinned(points, first)
        known = {"rows": len(run.columns), "era": run.era}
        return {**known, "columns": columns, "measurements": measurements(run)}


def _findings(run: LiveRun) -> list[Any]:
    opened = open_run(run.path)
    diagnose = getattr(opened, "diagnose", None)
    return [] if diagnose is None else [finding.to_plain() for finding in diagnose()]


def _whole(request: Request, name: str, usual: int, limits: tuple[int, int]) -> int:
    text = request.query_params.get(name)
    return usual if text is None else read_whole(name, text, limits)


def _minutes(body: Plain) -> float:
    minutes = body.get("minutes")
    if isinstance(minutes, int | float) and 0 < minutes <= MAX_MINUTES and minutes is not True:
        return float(minutes)
    raise ConfigError(f"minutes must be a number above 0, at most {MAX_MINUTES:,}")
