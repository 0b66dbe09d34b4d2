"""One search, from `go` to `bestmove`."""

import time
from collections.abc import Callable

from rookery.games import Board
from rookery.interface.uci.command_queue import CommandQueue
from rookery.interface.uci.limits import Limits
from rookery.interface.uci.options import Options
from rookery.interface.uci.report import info_lines, write_moves
from rookery.search import AnalysisSearch

ENDING = ("quit", "position", "go", "ucinewgame")
"""Commands that also stop a search, from a program that did not send `stop` first."""
FIRST_REPORT, LONGEST_INTERVAL = 0.1, 2.0
"""Seconds: the interval between reports grows, up to the second number."""
MAX_SIMULATIONS = 1 << 20
"""Simulations of one call of the search, at most."""


class GoSearch:
    """A search under way, which obeys the commands that arrive meanwhile."""

    def __init__(
        self,
        search: AnalysisSearch,
        board: Board,
        limits: Limits,
        *,
        options: Options,
        commands: CommandQueue,
        say: Callable[[str], None],
        start: float,
    ) -> None:
        """Take `start`, the time of `go`, by `time.perf_counter`."""
        self._search, self._board, self._limits = search, board, limits
        self._options, self._commands, self._say = options, commands, say
        self._start = self._last = start
        self._waits_for_stop = limits.is_open or limits.ponder
        self._deadline = None if limits.ponder else self._end_from(start)
        self._next_report = start + FIRST_REPORT
        self._longest_wave = 0.0
        self._is_stopped = False
        self._deferred: list[str] = []

    def run(self) -> None:
        """Search, and send `bestmove`."""
        self._last = time.perf_counter()
        self._obey_arrived()
        while not self._is_done():
            self._search.grow(self._simulations(), self._after_wave)
            if self._waits_for_stop and self._search.is_finished and not self._is_stopped:
                self._obey(self._commands.take())
        self._report()
        best = self._search.variations(1)[0].actions[:2]
        moves = write_moves(self._board.game, self._board.state, best)
        self._say(f"bestmove {' ponder '.join(moves)}")
        self._commands.put_back(*self._deferred)

    def _end_from(self, start: float) -> float | None:
        """Return the deadline, or None without a limit of time; an only move needs no search."""
        game, state = self._board.game, self._board.state
        is_black = game.write_position(state).split()[1] == "b"
        overhead = self._options.number("Move Overhead")
        seconds = self._limits.seconds(is_black=is_black, overhead=overhead)
        if seconds is None or self._limits.infinite:
            return None
        is_forced = self._limits.movetime is None and len(game.legal_actions(state)) == 1
        return start if is_forced else start + seconds

    def _simulations(self) -> int:
        """Return how many simulations the next call of the search may run."""
        if self._limits.nodes is None or self._waits_for_stop:
            return MAX_SIMULATIONS
        return min(MAX_SIMULATIONS, self._limits.nodes - self._search.progress.simulations)

    def _after_wave(self) -> bool:
        """Obey commands, report, and return whether to stop."""
        now = time.perf_counter()
        self._longest_wave = max(now - self._last, 0.5 * self._longest_wave)
        self._last = now
        self._obey_arrived()
        if now >= self._next_report:
            self._report()
            self._next_report = now + min(LONGEST_INTERVAL, now - self._start)
        return self._is_done()

    def _is_done(self) -> bool:
        if self._is_stopped or self._waits_for_stop:
            return self._is_stopped
        limits, growth = self._limits, self._search.progress
        is_late = self._deadline is not None and self._last + self._longest_wave >= self._deadline
        has_nodes = limits.nodes is not None and growth.simulations >= limits.nodes
        is_deep = limits.depth is not None and growth.depth >= limits.depth
        return is_late or has_nodes or is_deep or self._search.is_finished

    def _obey_arrived(self) -> None:
        while not self._is_stopped and (line := self._commands.poll()) is not None:
            self._obey(line)

    def _obey(self, line: str) -> None:
        """Obey a command that cannot wait until the search is over; defer any other."""
        word = line.partition(" ")[0]
        if word == "isready":
            self._say("readyok")
        elif word == "ponderhit":
            self._waits_for_stop = self._limits.is_open
            self._deadline = self._end_from(time.perf_counter())
        elif word == "stop":
            self._is_stopped = True
        elif word in ENDING:
            self._is_stopped = True
            self._commands.put_back(line)
        else:
            self._deferred.append(line)

    def _report(self) -> None:
        options, growth = self._options, self._search.progress
        lines = self._search.variations(options.number("MultiPV"))
        seconds, wdl = time.perf_counter() - self._start, bool(options.values["UCI_ShowWDL"])
        game, state = self._board.game, self._board.state
        for line in info_lines(game, state, lines, growth, seconds=seconds, wdl=wdl):
            self._say(line)
