"""A program in a terminal of its own: a pseudo-terminal, and what is on its screen."""

import random
import threading
import time
from collections.abc import Callable, Sequence

import pyte
from ptyprocess import PtyProcess

DEADLINE_SECONDS = 240
STALE = "#"
"""What a resize leaves in every cell until the program draws again."""


class Terminal:
    """Runs `command` on a screen of `columns` x `lines`.

    On a resize, terminals wrap, cut or move what they show. This one does the worst: it fills the
    screen with rubbish and moves the cursor. A program that draws all of it again leaves none.
    """

    def __init__(
        self, command: Sequence[str], env: dict[str, str], *, columns: int = 80, lines: int = 24
    ) -> None:
        self._screen = pyte.Screen(columns, lines)
        self._stream = pyte.ByteStream(self._screen)
        self._lock, self._random = threading.Lock(), random.Random(1)
        self.raw = b""
        """Everything that the program has written."""
        self.process = PtyProcess.spawn(list(command), env=env, dimensions=(lines, columns))
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        while True:
            try:
                data = self.process.read(1 << 16)
            except (EOFError, OSError, ValueError):  # it has ended, or is closed here
                return
            with self._lock:
                self.raw += data
                self._stream.feed(data)

    def lines(self) -> list[str]:
        """Return the lines on the screen, without trailing spaces."""
        with self._lock:
            return [line.rstrip() for line in self._screen.display]

    def text(self) -> str:
        """Return what is on the screen."""
        return "\n".join(self.lines()).rstrip()

    def type(self, text: str) -> None:
        """Type `text`."""
        self.process.write(text.encode())

    def resize(self, columns: int, lines: int) -> None:
        """Change the size and spoil the screen."""
        with self._lock:
            self._screen.resize(lines, columns)
            for row in range(lines):
                self._screen.cursor_position(row + 1, 1)
                self._screen.draw(STALE * (columns - 1))
            self._screen.cursor_position(
                self._random.randint(1, lines), self._random.randint(1, columns)
            )
            self.process.setwinsize(lines, columns)

    def wait_for(self, is_reached: Callable[[str], bool]) -> str:
        """Return the screen once `is_reached` is true of it."""
        end = time.monotonic() + DEADLINE_SECONDS
        while not is_reached(shown := self.text()):
            assert time.monotonic() < end, f"not reached:\n{shown}\n{self.raw[-2000:]!r}"
            time.sleep(0.02)
        return shown

    def wait(self) -> int:
        """Return the exit code of the program once it has ended, and the screen is complete."""
        self._reader.join(DEADLINE_SECONDS)
        assert not self._reader.is_alive(), self.text()
        self.process.wait()
        signal = self.process.signalstatus
        return int(self.process.exitstatus) if signal is None else -int(signal)

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.close(force=True)
