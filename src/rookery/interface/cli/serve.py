"""`rookery serve`: the web app."""

import secrets
import socket
import threading
import webbrowser
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote

import typer

from rookery.interface.cli.completion import complete_run
from rookery.interface.cli.settings import Devices, TrustRules

if TYPE_CHECKING:
    from rookery.interface.web.site import Site

DEFAULT_FOLDER = Path("runs")
TOKEN_BYTES = 24
MIN_TOKEN = 16
SHUTDOWN_SECONDS = 3
BACKLOG = 128


def serve(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="RUN|FOLDER|RULES",
            autocompletion=complete_run,
            help="Show these runs, those in these folders, and the games of these rules files; "
            "without any, the runs in the folder runs.",
        ),
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, metavar="PORT", help="Listen on this port.")
    ] = 8765,
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS", help="Listen on this address; any but loopback needs the token."
        ),
    ] = "127.0.0.1",
    token: Annotated[
        str | None,
        typer.Option(
            metavar="TOKEN", help="Ask for this token; by default one is made unless on loopback."
        ),
    ] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Do not open the page in the browser.")
    ] = False,
    engine: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ENGINE",
            help="Offer another chess engine, as in uci:COMMAND?nodes=100; repeatable.",
        ),
    ] = None,
    devices: Devices = "cpu",
    trust_rules: TrustRules = False,
) -> None:
    """Open the web app: play any game, analyse positions, watch runs learn."""
    from rookery.base import ConfigError, import_extra

    for module in ("starlette", "uvicorn", "websockets"):
        import_extra(module, extra="web", user="rookery serve")
    from rookery.interface.web.security import is_loopback
    from rookery.interface.web.site import Site

    folders, rules = _split(paths)
    _check_engines(engine or [])
    _check_device(devices)
    if token is not None and len(token) < MIN_TOKEN:
        raise ConfigError(f"a token needs at least {MIN_TOKEN} characters; leave it out for one")
    if token is None:
        token = "" if is_loopback(host) else secrets.token_urlsafe(TOKEN_BYTES)
    site = Site(
        folders=folders,
        rules=rules,
        engines=engine or (),
        host=host,
        token=token,
        devices=devices,
        trust_rules=trust_rules,
    )
    with _listen(host, port) as listener:
        address = _address(host, listener.getsockname()[1], token)
        print(f"The web app is at {address} (Ctrl-C ends it)", flush=True)
        if not no_browser:
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
        _run(site, listener)


def _split(paths: list[Path] | None) -> tuple[list[Path], list[Path]]:
    """Return folders and rules files."""
    from rookery.base import ConfigError

    if not paths:
        return [DEFAULT_FOLDER], []
    rules = [path for path in paths if path.suffix == ".py" and path.is_file()]
    folders = [path for path in paths if path not in rules]
    for path in folders:
        if not path.is_dir():
            raise ConfigError(
                f"{path} is neither a folder nor a rules file; give a run or a folder"
            )
    return folders, rules


def _check_engines(names: list[str]) -> None:
    """Raise ConfigError if one is no engine of this machine."""
    if names:
        from rookery.arena import named_player
        from rookery.games import load_game

        for name in names:
            named_player(name, load_game("chess"), seed=1)


def _check_device(name: str) -> None:
    """Raise ConfigError if it is no device of this machine, before anybody wants to play."""
    if name != "cpu":
        from rookery.gpu import find_device

        find_device(name)


def _listen(host: str, port: int) -> socket.socket:
    """Return a socket that accepts connections, or raise ConfigError."""
    from rookery.base import ConfigError

    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError) as error:
        raise ConfigError(f"there is no address {host} to listen on ({error})") from error
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise ConfigError(
            f"cannot listen on port {port} of {host} ({error.strerror}); choose another --port"
        ) from error
    return listener


def _address(host: str, port: int, token: str) -> str:
    name = {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(host, host)
    name = f"[{name}]" if ":" in name and not name.startswith("[") else name
    return f"http://{name}:{port}/" + (f"?token={quote(token, safe='')}" if token else "")


def _run(site: "Site", listener: socket.socket) -> None:
    """Serve until the process is told to end."""
    import uvicorn

    from rookery.interface.web.app import make_app
    from rookery.interface.web.limits import MAX_CONNECTIONS, MAX_MESSAGE

    config = uvicorn.Config(
        make_app(site),
        ws="websockets-sansio",
        ws_max_size=MAX_MESSAGE,
        limit_concurrency=MAX_CONNECTIONS,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=False,
    )
    with suppress(KeyboardInterrupt):  # raised again after a clean end
        uvicorn.Server(config).run(sockets=[listener])
