"""The commands that a chess program writes, read by a thread while the search runs."""

import queue
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress

QUIT = "quit"


class Inbox:
    """Lines in the order they came; after the last one there is only `quit`."""

    def __init__(self, lines: Iterable[str], introduce: Callable[[], None]) -> None:
        """`uci` is answered on the spot, by `introduce`: loading a net may take longer."""
        self._introduce = introduce
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._put_back: list[str] = []
        threading.Thread(target=self._read, args=(lines,), daemon=True).start()

    def _read(self, lines: Iterable[str]) -> None:
        with suppress(BrokenPipeError):  # nobody is there any more
            for line in map(str.strip, lines):
                if line == "uci":
                    self._introduce()
                    continue
                if line == QUIT:  # a thread that still reads would hold up the exit
                    break
                self._lines.put(line)
        self._lines.put(QUIT)

    def take(self) -> str:
        """The next line, waited for."""
        return self._put_back.pop() if self._put_back else self._lines.get()

    def glance(self) -> str | None:
        """The next line, if there is one already."""
        if self._put_back:
            return self._put_back.pop()
        try:
            return self._lines.get_nowait()
        except queue.Empty:
            return None

    def put_back(self, line: str) -> None:
        """Let `line` be the next one again."""
        self._put_back.append(line)
