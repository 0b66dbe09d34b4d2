"""A program in a terminal of its own: a pseudo-terminal, and what is on its screen.

`pyte` interprets what the program writes, as a terminal does.
"""

import threading
import time
from collections.abc import Callable, Sequence
from typing import Self

import pyte
from ptyprocess import PtyProcess

DEADLINE_SECONDS = 240
FAINT, ITALIC = 2, 3


class Screen(pyte.Screen):
    """A screen that knows faint text, which pyte does not, as italic text, which we never use."""

    def select_graphic_rendition(self, *codes: int) -> None:
        """Change the style of what is drawn next."""
        super().select_graphic_rendition(*(ITALIC if code == FAINT else code for code in codes))


class Terminal:
    """Runs `command` on a screen of `columns` x `lines`."""

    def __init__(
        self,
        command: Sequence[str],
        env: dict[str, str],
        *,
        columns: int = 80,
        lines: int = 24,
        folder: str | None = None,
    ) -> None:
        self.screen = Screen(columns, lines)
        self._stream = pyte.ByteStream(self.screen)
        self.lock = threading.Lock()
        """Held while the screen changes."""
        self.raw = b""
        """Everything that the program has written."""
        self.process = PtyProcess.spawn(
            list(command), cwd=folder, env=env, dimensions=(lines, columns)
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        while True:
            try:
                data = self.process.read(1 << 16)
            except (EOFError, OSError, ValueError):  # it has ended, or is closed here
                return
            with self.lock:
                self.raw += data
                self._stream.feed(data)

    def text(self) -> str:
        """Return what is on the screen, without trailing spaces."""
        with self.lock:
            return "\n".join(line.rstrip() for line in self.screen.display).rstrip()

    def type(self, text: str) -> None:
        """Type `text`."""
        self.process.write(text.encode())

    def wait_for(self, is_reached: Callable[[str], bool]) -> str:
        """Return the screen once `is_reached` is true of it."""
        end = time.monotonic() + DEADLINE_SECONDS
        while not is_reached(shown := self.text()):
            assert time.monotonic() < end, f"not reached:\n{shown}\n{self.raw[-2000:]!r}"
            time.sleep(0.02)
        return shown

    def wait_for_text(self, text: str) -> str:
        """Return the screen once it has `text`."""
        return self.wait_for(lambda shown: text in shown)

    def wait_for_end(self, text: str) -> str:
        """Return the screen once it ends in `text`."""
        return self.wait_for(lambda shown: shown.endswith(text))

    def wait(self) -> int:
        """Return the exit code of the program once it has ended, and the screen is complete."""
        self._reader.join(DEADLINE_SECONDS)
        assert not self._reader.is_alive(), self.text()
        self.process.wait()
        signal = self.process.signalstatus
        return int(self.process.exitstatus) if signal is None else -int(signal)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate(force=True)
        self._reader.join(DEADLINE_SECONDS)  # closing would wait for its read
        self.process.close()
