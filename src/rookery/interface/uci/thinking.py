"""One search, from `go` to `bestmove`."""

import time
from collections.abc import Callable

from rookery.games import Board
from rookery.interface.uci.inbox import Inbox
from rookery.interface.uci.limits import Limits
from rookery.interface.uci.options import Options
from rookery.interface.uci.report import info_lines, write_moves
from rookery.search import AnalysisSearch

ENDING = ("quit", "position", "go", "ucinewgame")
"""What also stops a search, from a program that did not say `stop` first."""
FIRST_REPORT, MOST_SILENCE = 0.1, 2.0
"""Seconds: reports come ever more rarely, but never more rarely than that."""
SLICE = 1 << 20


class Thinking:
    """A search under way, which listens to what the chess program says meanwhile."""

    def __init__(
        self,
        search: AnalysisSearch,
        board: Board,
        limits: Limits,
        *,
        options: Options,
        inbox: Inbox,
        say: Callable[[str], None],
        start: float,
    ) -> None:
        """`start` is when `go` came, by `time.perf_counter`."""
        self._search, self._board, self._limits = search, board, limits
        self._options, self._inbox, self._say = options, inbox, say
        self._start = self._last = start
        self._is_held = limits.is_open or limits.ponder
        self._deadline = None if limits.ponder else self._end_from(start)
        self._next_report = start + FIRST_REPORT
        self._longest = 0.0
        self._is_stopped = False
        self._later: list[str] = []

    def run(self) -> None:
        """Think, and say what is best."""
        self._last = time.perf_counter()
        self._listen()
        while not self._is_done():
            self._search.grow(self._slice(), self._watch)
            if self._is_held and self._search.is_finished and not self._is_stopped:
                self._obey(self._inbox.take())
        self._report()
        best = self._search.variations(1)[0].actions[:2]
        words = ["bestmove", " ponder "]
        moves = write_moves(self._board.game, self._board.state, best)
        self._say(f"{words[0]} {words[1].join(moves)}")
        for line in reversed(self._later):
            self._inbox.put_back(line)

    def _end_from(self, start: float) -> float | None:
        """When the time is up, if it is limited; there is no need to think about an only move."""
        game, state = self._board.game, self._board.state
        is_black = game.write_position(state).split()[1] == "b"
        overhead = self._options.number("Move Overhead")
        seconds = self._limits.seconds(is_black=is_black, overhead=overhead)
        if seconds is None or self._limits.infinite:
            return None
        is_forced = self._limits.movetime is None and len(game.legal_actions(state)) == 1
        return start if is_forced else start + seconds

    def _slice(self) -> int:
        """How many simulations may come now."""
        if self._limits.nodes is None or self._is_held:
            return SLICE
        return min(SLICE, self._limits.nodes - self._search.progress.simulations)

    def _watch(self) -> bool:
        """Called after every wave: whether to stop."""
        now = time.perf_counter()
        self._longest = max(now - self._last, 0.5 * self._longest)
        self._last = now
        self._listen()
        if now >= self._next_report:
            self._report()
            self._next_report = now + min(MOST_SILENCE, now - self._start)
        return self._is_done()

    def _is_done(self) -> bool:
        if self._is_stopped or self._is_held:
            return self._is_stopped
        limits, growth = self._limits, self._search.progress
        is_late = self._deadline is not None and self._last + self._longest >= self._deadline
        has_nodes = limits.nodes is not None and growth.simulations >= limits.nodes
        is_deep = limits.depth is not None and growth.depth >= limits.depth
        return is_late or has_nodes or is_deep or self._search.is_finished

    def _listen(self) -> None:
        while not self._is_stopped and (line := self._inbox.glance()) is not None:
            self._obey(line)

    def _obey(self, line: str) -> None:
        """Do what cannot wait until the search is over."""
        word = line.partition(" ")[0]
        if word == "isready":
            self._say("readyok")
        elif word == "ponderhit":
            self._is_held = self._limits.is_open
            self._deadline = self._end_from(time.perf_counter())
        elif word == "stop":
            self._is_stopped = True
        elif word in ENDING:
            self._is_stopped = True
            self._inbox.put_back(line)
        else:
            self._later.append(line)

    def _report(self) -> None:
        options, growth = self._options, self._search.progress
        lines = self._search.variations(options.number("MultiPV"))
        seconds, wdl = time.perf_counter() - self._start, bool(options.values["UCI_ShowWDL"])
        game, state = self._board.game, self._board.state
        for line in info_lines(game, state, lines, growth, seconds=seconds, wdl=wdl):
            self._say(line)
