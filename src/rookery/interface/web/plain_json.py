"""JSON as browsers read it: numbers that are not finite become null."""

import json
from math import isfinite
from typing import Any

from starlette.responses import JSONResponse


def to_text(content: Any) -> str:
    """Return JSON in one line."""
    try:
        return json.dumps(content, allow_nan=False, separators=(",", ":"))
    except ValueError:
        return json.dumps(_finite(content), allow_nan=False, separators=(",", ":"))


class PlainResponse(JSONResponse):
    """A response of figures, of which some may not be finite."""

    def render(self, content: Any) -> bytes:
        """Return the body."""
        return to_text(content).encode()


def _finite(content: Any) -> Any:
    if isinstance(content, dict):
        return {name: _finite(value) for name, value in content.items()}
    if isinstance(content, list | tuple):
        return [_finite(value) for value in content]
    return None if isinstance(content, float) and not isfinite(content) else content
