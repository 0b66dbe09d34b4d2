"""A panel below the lines that a command prints, whole at every size of the terminal.

A terminal that changes its size may wrap, cut or move what it shows, and does not say which. So
what was drawn for another size is not erased line by line: the screen is cleared, and the last
lines and the panel are drawn again.
"""

import threading
import time
from collections import deque

from rich.console import Console, ConsoleRenderable, RenderableType, RenderHook
from rich.control import Control
from rich.live import Live

REFRESH_SECONDS = 0.25
RESIZE_SECONDS = 0.05
"""How often the size of the terminal is looked at."""
KEPT_LINES = 100


def has_live_display(console: Console) -> bool:
    """Return whether `console` is a terminal that can move its cursor."""
    return console.is_terminal and not console.is_dumb_terminal


def wait_for_resize(console: Console, seconds: float) -> None:
    """Wait for `seconds`, or until the size of the terminal changes."""
    size, end = console.size, time.monotonic() + seconds
    while console.size == size and time.monotonic() < end:
        time.sleep(RESIZE_SECONDS)


class LivePanel(RenderHook):
    """While entered, shows `content` below everything that is printed on `console`."""

    def __init__(self, console: Console, content: RenderableType) -> None:
        self._console, self._content = console, content
        self._lines: deque[ConsoleRenderable] = deque(maxlen=KEPT_LINES)
        self._is_redrawing = False
        self._lock, self._ended = threading.RLock(), threading.Event()
        self._thread = threading.Thread(target=self._refresh_until_ended, daemon=True)

    def __enter__(self) -> "LivePanel":
        self._console.push_render_hook(self)
        self._start()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        with self._lock:
            self._redraw_if_resized()
            self._live.stop()
            self._console.pop_render_hook()

    def update(self, content: RenderableType) -> None:
        """Show `content` from now on."""
        with self._lock:
            self._content = content
            self._live.update(content)

    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        """Remember what is printed above the panel."""
        if not self._is_redrawing:
            self._lines.extend(each for each in renderables if not isinstance(each, Control))
        return renderables

    def _start(self) -> None:
        self._size = self._console.size
        self._live = Live(self._content, console=self._console, auto_refresh=False, transient=True)
        self._live.start(refresh=True)

    def _refresh_until_ended(self) -> None:
        refreshed = time.monotonic()
        while not self._ended.wait(RESIZE_SECONDS):
            with self._lock:
                self._redraw_if_resized()
                if time.monotonic() - refreshed >= REFRESH_SECONDS:
                    refreshed = time.monotonic()
                    self._live.refresh()

    def _redraw_if_resized(self) -> None:
        if self._console.size == self._size:
            return
        self._is_redrawing = True
        with self._console:  # one write, so that nothing flickers
            self._live.stop()
            self._console.control(Control.home(), Control.clear())
            for line in self._last_lines():
                self._console.print(line)
            self._start()
        self._is_redrawing = False

    def _last_lines(self) -> list[ConsoleRenderable]:
        """Return the last printed lines that fit above the panel."""
        shown: list[ConsoleRenderable] = []
        room = self._console.height - self._height(self._content) - 1
        for line in reversed(self._lines):
            room -= self._height(line)
            if room < 0:
                break
            shown.append(line)
        return shown[::-1]

    def _height(self, content: RenderableType) -> int:
        return len(self._console.render_lines(content, pad=False))
