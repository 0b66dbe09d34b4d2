"""The files of the page: scripts, styles and icons, read and compressed once.

Their address has a digest of them all in it, so a browser keeps them for good and asks again only
after an update. The page names all scripts, so a browser asks for them at once and not one import
after the other.
"""

import gzip
import hashlib
import mimetypes
from dataclasses import dataclass
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

ROOT = "/static/"
KEPT = {"Cache-Control": "private, max-age=31536000, immutable"}
TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
PRELOADS = "<!-- scripts -->"
"""Where the page names the scripts."""


@dataclass(frozen=True)
class Asset:
    """One file, and the same compressed."""

    content: bytes
    packed: bytes
    media_type: str

    def respond(self, request: Request, headers: dict[str, str]) -> Response:
        """Return the file as a browser takes it."""
        headers = {**headers, "Vary": "Accept-Encoding"}
        if "gzip" not in request.headers.get("accept-encoding", ""):
            return Response(self.content, headers=headers, media_type=self.media_type)
        headers["Content-Encoding"] = "gzip"
        return Response(self.packed, headers=headers, media_type=self.media_type)


class Assets:
    """Answers requests for the page and its files."""

    def __init__(self, folder: Path) -> None:
        paths = sorted(path for path in folder.rglob("*") if path.is_file())
        contents = {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
        self._prefix = _digest(contents) + "/"
        contents["index.html"] = self._page(contents)
        self._files = {name: _asset(name, content) for name, content in contents.items()}

    def _page(self, contents: dict[str, bytes]) -> bytes:
        page = contents["index.html"].decode()
        scripts = [name for name in contents if name.endswith(".js") and ROOT + name not in page]
        links = [f'<link rel="modulepreload" href="{ROOT}{name}">' for name in scripts]
        page = page.replace(PRELOADS, "\n".join(links))
        return page.replace(ROOT, ROOT + self._prefix).encode()

    async def page(self, request: Request) -> Response:
        """Answer with the page."""
        return self._files["index.html"].respond(request, {})

    async def file(self, request: Request) -> Response:
        """Answer with a file, by its lasting address or by its name."""
        path = str(request.path_params["name"])
        name = path.removeprefix(self._prefix)
        if name not in self._files:
            raise HTTPException(404, "there is no such file")
        return self._files[name].respond(request, KEPT if name != path else {})


def _digest(contents: dict[str, bytes]) -> str:
    found = hashlib.sha256()
    for name, content in contents.items():
        found.update(f"{name} {len(content)} ".encode() + content)
    return found.hexdigest()[:16]


def _asset(name: str, content: bytes) -> Asset:
    suffix = Path(name).suffix
    media_type = TYPES.get(suffix) or mimetypes.guess_type(name)[0] or "text/plain"
    return Asset(content, gzip.compress(content, mtime=0), media_type)
