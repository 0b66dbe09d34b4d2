"""How much one client, and all together, may ask of the server."""

from rookery.base import ConfigError

MAX_SIMULATIONS = 100_000
"""Per move."""
MAX_SECONDS = 60.0
"""Per move."""
MAX_NODES = 1_000_000
"""Per analysis."""
MAX_REPORT_NODES = 10_000
"""Per position of a report."""
MAX_LINES = 64
MAX_MOVES = 4096
MAX_MESSAGE = 64 * 1024
"""Bytes of one message of a WebSocket."""
MAX_BODY = 1024 * 1024
"""Bytes of the body of a request."""
MAX_SOCKETS = 64
MAX_QUESTIONS = 4
"""Searches that one socket runs at a time."""
MAX_CONNECTIONS = 512
MAX_TEXT = 100
"""Characters of a move or a name."""


def read_number(
    question: dict[str, object], name: str, *, default: int, low: int, high: int
) -> int:
    """Return a whole number of a question, or raise ConfigError."""
    value = question.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ConfigError(f"{name} must be a whole number from {low} to {high}")
    return value


def read_seconds(question: dict[str, object]) -> float | None:
    """Return the seconds of a question, or None if it has none."""
    value = question.get("seconds")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ConfigError("seconds must be a number")
    if not 0 < value <= MAX_SECONDS:  # also refuses NaN
        raise ConfigError(f"seconds must be more than 0 and at most {MAX_SECONDS:g}")
    return float(value)


def read_text(question: dict[str, object], name: str, *, longest: int = MAX_TEXT) -> str:
    """Return a text of a question, empty if it has none, or raise ConfigError."""
    value = question.get(name, "")
    if not isinstance(value, str) or len(value) > longest:
        raise ConfigError(f"{name} must be a text of at most {longest} characters")
    return value


def read_texts(question: dict[str, object], name: str, *, most: int = MAX_MOVES) -> list[str]:
    """Return a list of short texts of a question, or raise ConfigError."""
    value = question.get(name, [])
    if not isinstance(value, list) or len(value) > most:
        raise ConfigError(f"{name} must be a list of at most {most} texts")
    if not all(isinstance(each, str) and 0 < len(each) <= MAX_TEXT for each in value):
        raise ConfigError(f"{name} must hold texts of 1 to {MAX_TEXT} characters")
    return value
