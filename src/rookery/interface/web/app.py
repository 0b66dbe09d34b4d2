"""The web app: its routes, and answers to errors in one sentence."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute

from rookery.base import ConfigError, RookeryError
from rookery.interface.web import limits
from rookery.interface.web.assets import Assets
from rookery.interface.web.catalogue import Catalogue
from rookery.interface.web.game_texts import read_game, write_game
from rookery.interface.web.players import Players
from rookery.interface.web.questions import Conversations
from rookery.interface.web.run_shelf import RunShelf
from rookery.interface.web.runs import run_routes
from rookery.interface.web.security import Guard
from rookery.interface.web.services import Services
from rookery.interface.web.site import Site

STATIC = Path(__file__).parent / "static"
COMPRESSION = 4
"""Level for answers to one request: quick, and nearly as small as the highest."""


def make_app(site: Site) -> Starlette:
    """Return the app of a site."""
    shelf = RunShelf(site.folders)
    catalogue = Catalogue(shelf, site.rules, trust_rules=site.trust_rules)
    players = Players(catalogue, site.engines)
    services = Services(catalogue, players, devices=site.devices)
    pages, assets = GamePages(services), Assets(STATIC)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        shelf.read_ahead()
        yield
        services.close()

    app = Starlette(
        routes=[
            Route("/", assets.page),
            Route("/api/games", pages.games),
            Route("/api/players", pages.players),
            Route("/api/games/read", pages.read, methods=["POST"]),
            Route("/api/games/write", pages.write, methods=["POST"]),
            WebSocketRoute("/api/play", Conversations(services).hold),
            *run_routes(shelf, site.rules, doctor=services.doctor),
            Route("/static/{name:path}", assets.file),
        ],
        middleware=[
            Middleware(Guard, host=site.host, token=site.token),
            Middleware(GZipMiddleware, compresslevel=COMPRESSION),
        ],
        exception_handlers={
            RookeryError: _user_error,
            HTTPException: _http_error,
            ClientDisconnect: _left,
        },
        lifespan=lifespan,
    )
    app.state.services = services
    return app


class GamePages:
    """Answers requests about games and players."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def games(self, request: Request) -> Response:
        """Answer with all games."""
        return JSONResponse(await self._think(self._services.catalogue.to_plain))

    async def players(self, request: Request) -> Response:
        """Answer with the players of a game."""
        key = request.query_params.get("game", "")[: limits.MAX_TEXT]
        found = await self._think(lambda: self._services.players.choices(key))
        return JSONResponse([each.to_plain() for each in found])

    async def read(self, request: Request) -> Response:
        """Answer with the game in a text."""
        asked = await read_json(request)
        text = limits.read_text(asked, "text", longest=limits.MAX_BODY)
        game = await self._services.game(self, limits.read_text(asked, "game"))
        return JSONResponse(await self._think(lambda: read_game(game, text)))

    async def write(self, request: Request) -> Response:
        """Answer with a game as text."""
        asked = await read_json(request)
        start = limits.read_text(asked, "start", longest=limits.MAX_MESSAGE)
        moves = limits.read_texts(asked, "moves")
        result = limits.read_text(asked, "result")
        game = await self._services.game(self, limits.read_text(asked, "game"))
        return JSONResponse(await self._think(lambda: write_game(game, start, moves, result)))

    async def _think(self, function: Callable[[], Any]) -> Any:
        return await self._services.think(self, function)


async def read_json(request: Request) -> dict[str, Any]:
    """Return the JSON object in the body of a request, or raise ConfigError."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > limits.MAX_BODY:
            raise HTTPException(413, f"a request may have at most {limits.MAX_BODY} bytes")
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ConfigError("the body of the request is not JSON") from error
    if not isinstance(found, dict):
        raise ConfigError("expected a JSON object")
    return found


async def _user_error(request: Request, error: Exception) -> Response:
    return JSONResponse({"error": str(error)}, status_code=400)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse(
        {"error": error.detail}, status_code=error.status_code, headers=error.headers
    )


async def _left(request: Request, error: Exception) -> Response:
    return JSONResponse({"error": "the request was not complete"}, status_code=400)
