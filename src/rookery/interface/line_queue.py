"""Lines of text that a thread reads while the program computes."""

import codecs
import io
import os
import queue
import threading
from collections.abc import Iterable, Iterator
from typing import TextIO

CHUNK_BYTES = 1 << 16


class LineQueue:
    """The lines of an input in their order, without surrounding white space."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._queue: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._read, args=(lines,), daemon=True)
        self._thread.start()

    def _read(self, lines: Iterable[str]) -> None:
        try:
            for line in lines:
                self._queue.put(line.strip())
        finally:
            self._queue.put(None)

    def take(self) -> str | None:
        """Wait for the next line and return it; return None once at the end of the input."""
        return self._queue.get()

    def is_empty(self) -> bool:
        """Whether `take` would wait."""
        return self._queue.empty()

    def batches(self, size: int) -> Iterator[list[str]]:
        """Yield batches of 1 to `size` lines: what has arrived, without waiting for more."""
        while (line := self.take()) is not None:
            batch = [line]
            while len(batch) < size and not self.is_empty():
                following = self.take()
                if following is None:
                    yield batch
                    return
                batch.append(following)
            yield batch


def read_lines(stream: TextIO) -> Iterator[str]:
    """Yield the lines of `stream`, each as soon as it is complete.

    A stream with a file descriptor is read past its buffer: a thread that waits inside the
    buffer of stdin holds its lock, and Python aborts when it exits meanwhile.
    """
    try:
        descriptor = stream.fileno()
    except (AttributeError, io.UnsupportedOperation):
        yield from stream
        return
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    rest = ""
    while chunk := os.read(descriptor, CHUNK_BYTES):
        *lines, rest = (rest + decoder.decode(chunk)).split("\n")
        yield from lines
    if rest:
        yield rest
