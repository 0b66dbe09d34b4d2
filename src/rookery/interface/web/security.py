"""Who may ask what: Host, Origin and token of every request, and headers of every answer.

- Host: a page of another site can make a browser resolve its own name to this machine (DNS
  rebinding). Only names of this machine and addresses are answered.
- Origin: browsers send cookies and open WebSockets for pages of other sites, too. WebSockets and
  requests that change something must come from a page of this server.
- Token: needed on every address but loopback. The address printed at the start carries it; the
  answer to it is a cookie that scripts cannot read and other sites cannot send.
"""

import ipaddress
import secrets
import socket
from contextlib import suppress
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketDisconnect

COOKIE = "rookery_token"
SAFE_METHODS = ("GET", "HEAD")
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "connect-src 'self'",
        "font-src 'self'",
        "manifest-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
REFUSED_SOCKET = 4403
"""Code with which a WebSocket that is not allowed is closed."""


def is_loopback(host: str) -> bool:
    """Whether an address to listen on can be reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


class Guard:
    """ASGI middleware that refuses what is not allowed and adds the security headers."""

    def __init__(self, app: ASGIApp, *, host: str = "127.0.0.1", token: str = "") -> None:
        """`host` is the address that the server listens on; without a `token` none is asked."""
        self._app, self._token = app, token
        self._names = {"localhost"}
        if not is_loopback(host):
            self._names |= {host.lower(), socket.gethostname().lower(), socket.getfqdn().lower()}
        self._is_loopback = is_loopback(host)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass on what is allowed."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        refusal = self._refuse(scope)
        if scope["type"] == "websocket":
            with suppress(WebSocketDisconnect, OSError):  # the client has left
                if refusal is None:
                    await self._app(scope, receive, send)
                else:
                    await send({"type": "websocket.close", "code": REFUSED_SOCKET})
        elif refusal is None:
            await self._app(scope, receive, _with_headers(scope, send))
        else:
            await refusal(scope, receive, _with_headers(scope, send))

    def _refuse(self, scope: Scope) -> Response | None:
        """Return the answer to a request that is not allowed, or None."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self._knows(host):
            return _error(403, "this server does not answer to that name; use its address")
        changes = scope["type"] == "websocket" or scope["method"] not in SAFE_METHODS
        if changes and not _is_same_origin(headers.get("origin", ""), host):
            return _error(403, "requests from other sites are not allowed")
        if self._token and not self._has_token(headers):
            return self._log_in(scope)
        return None

    def _knows(self, host: str) -> bool:
        """Whether `host` is a name of this machine; addresses cannot be rebound."""
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        if name in self._names:
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return False
        return address.is_loopback or not self._is_loopback

    def _has_token(self, headers: Headers) -> bool:
        cookie: SimpleCookie = SimpleCookie()
        try:
            cookie.load(headers.get("cookie", ""))
        except CookieError:
            return False
        return COOKIE in cookie and self._is_token(cookie[COOKIE].value)

    def _is_token(self, text: str) -> bool:
        return secrets.compare_digest(
            text.encode("utf-8", "surrogatepass"), self._token.encode("utf-8")
        )

    def _log_in(self, scope: Scope) -> Response:
        """Return a cookie for the right token in the address, otherwise an error."""
        try:
            query = parse_qs(scope.get("query_string", b"").decode("latin-1"), max_num_fields=20)
        except ValueError:
            query = {}
        given = query.pop("token", [""])[0]
        if scope["type"] == "websocket" or not self._is_token(given):
            return _error(401, "open the address with the token that rookery serve has printed")
        path = "/" + scope["path"].lstrip("/")  # never another host
        rest = f"?{urlencode(query, doseq=True)}" if query else ""
        answer = RedirectResponse(path + rest, status_code=303)
        answer.set_cookie(COOKIE, self._token, httponly=True, samesite="strict", path="/")
        return answer


def _is_same_origin(origin: str, host: str) -> bool:
    """Whether a page of this server asks."""
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and parts.netloc.lower() == host.lower() != ""


def _error(status: int, text: str) -> Response:
    return JSONResponse({"error": text}, status_code=status)


def _with_headers(scope: Scope, send: Send) -> Send:
    caching = "no-store" if scope["path"].startswith("/api/") else "no-cache"

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
            headers.setdefault("Cache-Control", caching)
        await send(message)

    return send_with_headers
