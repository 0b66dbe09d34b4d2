"""A pseudo-terminal that does its worst when it is resized."""

import random
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))

import pseudo_terminal

STALE = "#"
"""What a resize leaves in every cell until the program draws again."""


class Terminal(pseudo_terminal.Terminal):
    """Runs a command.

    On a resize, terminals wrap, cut or move what they show. This one fills the screen with rubbish
    and moves the cursor: only a program that draws all of it again leaves none.
    """

    def __init__(
        self, command: Sequence[str], env: dict[str, str], *, columns: int = 80, lines: int = 24
    ) -> None:
        super().__init__(command, env, columns=columns, lines=lines)
        self._random = random.Random(1)

    def resize(self, columns: int, lines: int) -> None:
        """Change the size and spoil the screen."""
        with self.lock:
            self.screen.resize(lines, columns)
            for row in range(lines):
                self.screen.cursor_position(row + 1, 1)
                self.screen.draw(STALE * (columns - 1))
            self.screen.cursor_position(
                self._random.randint(1, lines), self._random.randint(1, columns)
            )
            self.process.setwinsize(lines, columns)
