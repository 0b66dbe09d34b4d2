"""Search of one position that becomes deeper until the caller has seen enough."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from types import TracebackType

from rookery.api.board import Board
from rookery.api.net import Net, as_net, parts_of
from rookery.base import MAX_SIMULATIONS, IllegalPosition
from rookery.games import Action
from rookery.games import Board as GameBoard
from rookery.search import AnalysisSearch, Evaluator, Variation, nodes_in_memory

MEMORY_MB = 256
SECONDS_BETWEEN = 0.05
"""Time between two values of an iterated analysis."""


@dataclass(frozen=True)
class Line:
    """A move and its best continuation; values are for the player to move."""

    move: str
    value: float
    """From -1, lost, to 1, won."""
    wdl: tuple[float, float, float]
    """Probabilities of win, draw and loss."""
    visits: int
    variation: tuple[str, ...]
    """The move and the best moves after it."""


@dataclass(frozen=True)
class AnalysisInfo:
    """The state of an analysis."""

    lines: tuple[Line, ...]
    """The best moves, the best first."""
    nodes: int
    """Simulations so far."""
    seconds: float
    depth: int
    """Average length of a simulation's path, in plies."""

    @property
    def move(self) -> str:
        """The best move."""
        return self.lines[0].move


class Analysis:
    """A search that goes on while it is iterated.

    with Analysis(board, net) as analysis:
        for info in analysis:
            if info.nodes > 10_000:
                break
    """

    def __init__(
        self,
        board: Board,
        net: Net | Evaluator | str | None = None,
        *,
        lines: int = 1,
        memory_mb: int = MEMORY_MB,
    ) -> None:
        """Search the position of `board` with a network, its name, or any evaluator.

        The analysis ends when the result is proved or its tree fills `memory_mb`.
        """
        if board.is_over:
            raise IllegalPosition("the game is over in this position; there is no move to find")
        evaluator, config = parts_of(as_net(net), board.game)
        self._board, self._lines = board.copy(), lines
        self._search = AnalysisSearch(
            board.game,
            evaluator,
            config=config,
            max_nodes=nodes_in_memory(board.game, memory_mb),
        )
        self._search.set_position(board.state, board.played.repetitions)
        self._seconds = 0.0
        self._is_stopped = False

    def stop(self) -> None:
        """End the iteration."""
        self._is_stopped = True

    def info(self) -> AnalysisInfo:
        """Return the state so far."""
        found = self._search.variations(self._lines)
        progress = self._search.progress
        return AnalysisInfo(
            lines=tuple(self._line(each) for each in found),
            nodes=progress.simulations,
            seconds=self._seconds,
            depth=progress.depth,
        )

    def __iter__(self) -> Iterator[AnalysisInfo]:
        while not self._is_stopped:
            self._grow()
            yield self.info()
            if self._search.is_finished:
                return

    def _grow(self) -> None:
        begin = time.perf_counter()
        end = begin + SECONDS_BETWEEN
        self._search.grow(MAX_SIMULATIONS, is_stopped=lambda: time.perf_counter() >= end)
        self._seconds += time.perf_counter() - begin

    def __enter__(self) -> "Analysis":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _line(self, found: Variation) -> Line:
        moves = self._written(found.actions)
        return Line(moves[0], found.value, found.wdl, found.visits, moves)

    def _written(self, actions: tuple[Action, ...]) -> tuple[str, ...]:
        game = self._board.game
        board, moves = GameBoard(game, self._board.state), []
        for action in actions:
            moves.append(game.write_san(board.state, action))
            board.play(action)
        return tuple(moves)

    def __repr__(self) -> str:
        return f"<Analysis of {self._board!r}, {self._search.progress.simulations} nodes>"
