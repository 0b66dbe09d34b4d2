"""The other side of a chess program: it is told positions and limits, and says moves."""

import os
import time
from collections.abc import Callable
from typing import Any

import torch

from rookery.base import ConfigError, IllegalPosition, RookeryError
from rookery.games import LOSS, Action, Board
from rookery.interface.players import NetRef
from rookery.interface.uci.inbox import QUIT, Inbox
from rookery.interface.uci.limits import Limits, read_limits
from rookery.interface.uci.options import Options
from rookery.interface.uci.thinking import ENDING, Thinking
from rookery.search import AnalysisSearch, nodes_in_memory
from rookery.training import PlayerSpec

SEARCH_OPTIONS = ("Hash", "Batch", "Threads")
"""Those that a new search is made for."""
WARM_SIMULATIONS = 100


class Engine:
    """Obeys UCI, one command after the other."""

    def __init__(
        self, net: NetRef, player: PlayerSpec, *, inbox: Inbox, say: Callable[[str], None]
    ) -> None:
        self._net, self._contestant = net, player
        self._game = net.game
        self._inbox, self._say = inbox, say
        self._options = Options()
        self._threads = torch.get_num_threads()
        self._search: AnalysisSearch | None = None
        self._placed: tuple[bytes, list[Action]] | None = None
        self._board, self._moves = Board(self._game), list[str]()
        self._commands: dict[str, Callable[[list[str]], None]] = {
            "isready": self._get_ready,
            "ucinewgame": self._forget,
            "position": self._set_position,
            "go": self._go,
            "setoption": self._set_option,
        }

    def run(self) -> None:
        """Obey until `quit`, or until nobody writes any more."""
        while (line := self._inbox.take()) != QUIT:
            self._obey(line.split())

    def _obey(self, words: list[str]) -> None:
        ignored = ("stop", "ponderhit", "debug", "register")  # mean nothing where nobody searches
        if not words or words[0] in ignored:
            return
        command = self._commands.get(words[0])
        if command is None:
            self._tell(f"unknown command {' '.join(words)}")
            return
        try:
            command(words[1:])
        except (RookeryError, MemoryError) as error:
            self._tell(str(error) or "out of memory")

    def _tell(self, text: str) -> None:
        self._say(f"info string {' '.join(text.split())}")

    def _get_ready(self, words: list[str]) -> None:
        self._ready()
        self._say("readyok")

    def _forget(self, words: list[str]) -> None:
        self._placed = None
        self._board, self._moves = Board(self._game), []

    def _set_option(self, words: list[str]) -> None:
        name = self._options.set(words)
        if name in SEARCH_OPTIONS:
            self._search = self._placed = None

    def _set_position(self, words: list[str]) -> None:
        """Take a position over, all of it or nothing; a game that goes on is only played on."""
        text, _, moves = " ".join(words).partition("moves")
        kind, _, rest = text.strip().partition(" ")
        if kind not in ("startpos", "fen") or (kind == "fen") != bool(rest):
            raise ConfigError(f"position startpos or position fen FEN expected, got {text!r}")
        if kind == "fen" and "/" not in rest:
            raise IllegalPosition(f"{rest!r} is not a FEN")
        first = self._game.position(rest if kind == "fen" else "")
        written = moves.split()
        board, known = self._board, len(self._moves)
        if first.tobytes() != board.first.tobytes() or written[:known] != self._moves:
            board, known = Board(self._game, first), 0
        for count, move in enumerate(written[known:]):
            try:
                board.play(self._read_move(board, move))
            except IllegalPosition:
                board.undo(count)
                raise
        self._board, self._moves = board, written

    def _read_move(self, board: Board, text: str) -> Action:
        """By comparing: unlike `read_move`, this goes on where a draw was not claimed."""
        for action in self._game.legal_actions(board.state):
            if self._game.write_move(board.state, action) == text:
                return action
        position = self._game.write_position(board.state)
        raise IllegalPosition(f"{text} is not a legal move in {position}")

    def _go(self, words: list[str]) -> None:
        start = time.perf_counter()
        limits, strange = read_limits(words)
        if strange:
            self._tell(f"go: not understood: {' '.join(strange)}")
        search = self._ready()
        if not self._game.legal_actions(self._board.state):
            self._say_over(limits)
            return
        self._place(search, limits)
        Thinking(
            search,
            self._board,
            limits,
            options=self._options,
            inbox=self._inbox,
            say=self._say,
            start=start,
        ).run()

    def _say_over(self, limits: Limits) -> None:
        is_lost = self._game.rules.outcome(self._board.state) == LOSS
        self._say(f"info depth 0 score {'mate' if is_lost else 'cp'} 0")
        if limits.infinite or limits.ponder:
            self._wait_for_stop()
        self._say("bestmove (none)")

    def _wait_for_stop(self) -> None:
        """An endless search ends when somebody says so, even where there is nothing to search."""
        later: list[str] = []
        while (line := self._inbox.take()) not in ("stop", "ponderhit"):
            if line.partition(" ")[0] in ENDING:
                self._inbox.put_back(line)
                break
            if line == "isready":
                self._say("readyok")
            else:
                later.append(line)
        for line in reversed(later):
            self._inbox.put_back(line)

    def _place(self, search: AnalysisSearch, limits: Limits) -> None:
        """Hand the position to the search, which keeps what it knows of the same game."""
        board, only = self._board, self._named(limits.moves)
        first, moves = board.first.tobytes(), None
        if self._placed and self._placed[0] == first:
            known = self._placed[1]
            if board.actions[: len(known)] == known:
                moves = board.actions[len(known) :]
        search.set_position(board.state, board.repetitions, moves=moves, only=only)
        self._placed = (first, list(board.actions))

    def _named(self, moves: tuple[str, ...]) -> list[Action]:
        """The actions of `searchmoves`; those that are not legal are told and left out."""
        found = []
        for move in moves:
            try:
                found.append(self._read_move(self._board, move))
            except IllegalPosition as error:
                self._tell(f"searchmoves: {error}")
        return found

    def _ready(self) -> AnalysisSearch:
        """The search, made and warmed up where that is still to be done."""
        if self._search is None:
            wanted = self._options.number("Threads") or self._threads
            torch.set_num_threads(min(wanted, os.cpu_count() or wanted))
            try:
                search = self._new_search()
            except MemoryError:
                self._tell(f"no memory for a Hash of {self._options.number('Hash')}")
                self._tell(f"Hash is {self._options.reset('Hash')} now")
                search = self._new_search()
            _warm_up(search)
            self._search = search
        return self._search

    def _new_search(self) -> AnalysisSearch:
        return AnalysisSearch(
            self._game,
            self._contestant.evaluator(),
            config=self._net.search,
            max_nodes=nodes_in_memory(self._game, self._options.number("Hash")),
            leaves=self._options.number("Batch"),
        )


def _warm_up(search: AnalysisSearch) -> None:
    """Have every kernel ready before a clock runs."""
    board: Any = Board(search.game)
    search.set_position(board.state, board.repetitions)
    search.grow(WARM_SIMULATIONS)
    action = search.variations()[0].actions[0]
    board.play(action)
    search.set_position(board.state, board.repetitions, moves=[action])
