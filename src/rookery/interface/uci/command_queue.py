"""The commands of a chess program, read by a thread while the search runs."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

from rookery.interface.line_queue import LineQueue

QUIT = "quit"


class CommandQueue:
    """Commands in their order; after the last one there is only `quit`."""

    def __init__(self, lines: Iterable[str], introduce: Callable[[], None]) -> None:
        """Let the reading thread answer `uci` with `introduce`: loading a network takes longer."""
        self._lines = LineQueue(_commands(lines, introduce))
        self._put_back: list[str] = []

    def take(self) -> str:
        """Wait for the next command and return it."""
        if self._put_back:
            return self._put_back.pop()
        line = self._lines.take()
        if line is None:
            self._put_back.append(QUIT)
            return QUIT
        return line

    def poll(self) -> str | None:
        """Return the next command, or None if none has arrived."""
        return None if not self._put_back and self._lines.is_empty() else self.take()

    def put_back(self, *lines: str) -> None:
        """Make `lines` the next commands again."""
        self._put_back.extend(reversed(lines))


def _commands(lines: Iterable[str], introduce: Callable[[], None]) -> Iterator[str]:
    with suppress(BrokenPipeError):  # the chess program has closed its end
        for line in map(str.strip, lines):
            if line == "uci":
                introduce()
            elif line == QUIT:
                return
            else:
                yield line
