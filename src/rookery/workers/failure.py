"""How a worker tells why it failed."""

import sys
import traceback

from rookery.base import RookeryError


def explain_failure(error: Exception) -> str:
    """Return the reason in one line; the traceback of what is no user's mistake is printed too."""
    if isinstance(error, RookeryError):
        return str(error)
    traceback.print_exc(file=sys.stderr)
    return traceback.format_exception_only(error)[-1].strip()
