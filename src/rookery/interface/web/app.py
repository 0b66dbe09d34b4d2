"""The web app: its routes, and answers to errors in one sentence."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles

from rookery.base import RookeryError
from rookery.interface.web.catalogue import Catalogue
from rookery.interface.web.players import Players
from rookery.interface.web.questions import Questions
from rookery.interface.web.run_shelf import RunShelf
from rookery.interface.web.security import Guard

STATIC = Path(__file__).parent / "static"


@dataclass(frozen=True)
class Site:
    """What a server offers, and to whom."""

    folders: Sequence[Path] = ()
    """Runs, and folders of runs."""
    rules: Sequence[Path] = ()
    """Rules files of own games."""
    engines: Sequence[str] = ()
    """Further engines, named as `rookery match` names them."""
    host: str = "127.0.0.1"
    token: str = ""
    devices: str = "cpu"
    trust_rules: bool = False


def make_app(site: Site) -> Starlette:
    """Return the app of a site."""
    shelf = RunShelf(site.folders)
    catalogue = Catalogue(shelf, site.rules, trust_rules=site.trust_rules)
    players = Players(catalogue, site.engines)
    routes: list[BaseRoute] = [
        Route("/", _index),
        Route("/api/games", lambda request: JSONResponse(catalogue.to_plain())),
        Route(
            "/api/players",
            lambda request: JSONResponse(
                [
                    each.to_plain()
                    for each in players.choices(request.query_params.get("game", "")[:100])
                ]
            ),
        ),
        WebSocketRoute("/api/play", Questions(catalogue, players).__call__),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    try:
        from rookery.interface.web.runs import run_routes

        routes += run_routes(shelf)
    except ImportError:
        pass
    return Starlette(
        routes=routes,
        middleware=[
            Middleware(Guard, host=site.host, token=site.token),
            Middleware(GZipMiddleware),
        ],
        exception_handlers={RookeryError: _user_error, HTTPException: _http_error},
    )


async def _index(request: Request) -> Response:
    return FileResponse(STATIC / "index.html")


async def _user_error(request: Request, error: Exception) -> Response:
    return JSONResponse({"error": str(error)}, status_code=400)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": error.detail}, status_code=error.status_code)
