"""The engine that a chess program drives: it receives positions and limits, and sends moves."""

import time
from collections.abc import Callable
from typing import Any

import torch

from rookery.api import NetRef
from rookery.base import ConfigError, IllegalPosition, RookeryError, available_cores
from rookery.games import LOSS, Action, Board
from rookery.interface.uci.command_queue import QUIT, CommandQueue
from rookery.interface.uci.go import ENDING, GoSearch
from rookery.interface.uci.limits import Limits, read_limits
from rookery.interface.uci.options import Options
from rookery.nets import MEASURED_ROWS
from rookery.search import AnalysisSearch, nodes_in_memory
from rookery.training import PlayerSpec

SEARCH_OPTIONS = ("Hash", "Batch", "Threads")
"""Options whose change needs a new search."""
WARM_SIMULATIONS = 100


class Engine:
    """Obeys UCI commands one after the other."""

    def __init__(
        self, net: NetRef, player: PlayerSpec, *, commands: CommandQueue, say: Callable[[str], None]
    ) -> None:
        self._net, self._player = net, player
        self._game = net.game
        self._commands, self._say = commands, say
        self._options = Options()
        self._threads = torch.get_num_threads()
        self._search: AnalysisSearch | None = None
        self._searched: tuple[bytes, list[Action]] | None = None
        self._board, self._moves = Board(self._game), list[str]()
        self._handlers: dict[str, Callable[[list[str]], None]] = {
            "isready": self._get_ready,
            "ucinewgame": self._forget,
            "position": self._set_position,
            "go": self._go,
            "setoption": self._set_option,
        }

    def run(self) -> None:
        """Obey until `quit` or the end of the input."""
        while (line := self._commands.take()) != QUIT:
            self._obey(line.split())

    def _obey(self, words: list[str]) -> None:
        ignored = ("stop", "ponderhit", "debug", "register")  # without a search they mean nothing
        if not words or words[0] in ignored:
            return
        handler = self._handlers.get(words[0])
        if handler is None:
            self._say_info(f"unknown command {' '.join(words)}")
            return
        try:
            handler(words[1:])
        except (RookeryError, MemoryError) as error:
            self._say_info(str(error) or "out of memory")
        except torch.OutOfMemoryError:
            self._say_info("out of GPU memory; use a smaller network, or --devices cpu")

    def _say_info(self, text: str) -> None:
        self._say(f"info string {' '.join(text.split())}")

    def _get_ready(self, words: list[str]) -> None:
        self._ready()
        self._say("readyok")

    def _forget(self, words: list[str]) -> None:
        self._searched = None
        self._board, self._moves = Board(self._game), []

    def _set_option(self, words: list[str]) -> None:
        name = self._options.set(words)
        if name in SEARCH_OPTIONS:
            self._search = self._searched = None

    def _set_position(self, words: list[str]) -> None:
        """Set the position, or leave it unchanged if a move is illegal.

        A continuation of the present game only plays its new moves.
        """
        text, _, moves = " ".join(words).partition("moves")
        kind, _, rest = text.strip().partition(" ")
        if kind not in ("startpos", "fen") or (kind == "fen") != bool(rest):
            raise ConfigError(f"expected position startpos or position fen FEN, got {text!r}")
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
        """Compare `text` with the legal moves; unlike `read_move`, ignore claimable draws."""
        for action in self._game.legal_actions(board.state):
            if self._game.write_move(board.state, action) == text:
                return action
        position = self._game.write_position(board.state)
        raise IllegalPosition(f"{text} is not a legal move in {position}")

    def _go(self, words: list[str]) -> None:
        start = time.perf_counter()
        limits, unknown = read_limits(words)
        if unknown:
            self._say_info(f"go: not understood: {' '.join(unknown)}")
        search = self._ready()
        if not self._game.legal_actions(self._board.state):
            self._say_over(limits)
            return
        self._set_root(search, limits)
        GoSearch(
            search,
            self._board,
            limits,
            options=self._options,
            commands=self._commands,
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
        """Wait for the end of an infinite search, even if there is nothing to search."""
        deferred: list[str] = []
        while (line := self._commands.take()) not in ("stop", "ponderhit"):
            if line.partition(" ")[0] in ENDING:
                self._commands.put_back(line)
                break
            if line == "isready":
                self._say("readyok")
            else:
                deferred.append(line)
        self._commands.put_back(*deferred)

    def _set_root(self, search: AnalysisSearch, limits: Limits) -> None:
        """Pass the position to the search, which keeps its tree within one game."""
        board, only = self._board, self._root_moves(limits.moves)
        first, moves = board.first.tobytes(), None
        if self._searched and self._searched[0] == first:
            known = self._searched[1]
            if board.actions[: len(known)] == known:
                moves = board.actions[len(known) :]
        search.set_position(board.state, board.repetitions, moves=moves, only=only)
        self._searched = (first, list(board.actions))

    def _root_moves(self, moves: tuple[str, ...]) -> list[Action]:
        """Return the actions of `searchmoves`; report illegal ones and leave them out."""
        found = []
        for move in moves:
            try:
                found.append(self._read_move(self._board, move))
            except IllegalPosition as error:
                self._say_info(f"searchmoves: {error}")
        return found

    def _ready(self) -> AnalysisSearch:
        """Return the search; make it and warm it up first if there is none."""
        if self._search is None:
            wanted = self._options.number("Threads") or self._threads
            torch.set_num_threads(min(wanted, available_cores()))
            try:
                search = self._new_search()
            except MemoryError:
                self._say_info(f"not enough memory for Hash {self._options.number('Hash')}")
                self._say_info(f"using Hash {self._options.reset('Hash')} instead")
                search = self._new_search()
            _warm_up(search)
            self._search = search
        return self._search

    def _new_search(self) -> AnalysisSearch:
        evaluator = self._player.evaluator()
        states = self._game.random_states(MEASURED_ROWS, seed=0)
        evaluator(self._game.planes(states))  # the scales of 8 bits fit these positions
        return AnalysisSearch(
            self._game,
            evaluator,
            config=self._net.search,
            max_nodes=nodes_in_memory(self._game, self._options.number("Hash")),
            leaves=self._options.number("Batch"),
        )


def _warm_up(search: AnalysisSearch) -> None:
    """Compile every kernel before a clock runs."""
    board: Any = Board(search.game)
    search.set_position(board.state, board.repetitions)
    search.grow(WARM_SIMULATIONS)
    action = search.variations()[0].actions[0]
    board.play(action)
    search.set_position(board.state, board.repetitions, moves=[action])
