"""Search of one position that becomes deeper until the caller has seen enough."""

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType

from rookery.api.board import Board
from rookery.api.net import Floats, Net, as_net, parts_of
from rookery.base import MAX_SIMULATIONS, IllegalPosition
from rookery.games import Action, State
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
    actions: tuple[Action, ...]
    """The same as actions."""
    prior: float
    """Probability of the move in the policy of the network alone."""


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
        max_nodes: int | None = None,
    ) -> None:
        """Search the position of `board` with a network, its name, or any evaluator.

        The analysis ends when the result is proved or its tree fills `memory_mb` or has
        `max_nodes` positions.
        """
        if board.is_over:
            raise IllegalPosition("the game is over in this position; there is no move to find")
        net = as_net(net)
        evaluator, config = parts_of(net, board.game)
        self._board, self._lines = board.copy(), lines
        self.evaluator = evaluator
        """What evaluates its positions."""
        largest = nodes_in_memory(board.game, memory_mb)
        self._search = AnalysisSearch(
            board.game,
            evaluator,
            config=config,
            max_nodes=largest if max_nodes is None else min(largest, max_nodes),
            leaves=net.leaves if isinstance(net, Net) else 0,
        )
        self._search.set_position(board.state, board.played.repetitions)
        self._seconds = 0.0
        self._is_stopped = False

    def stop(self) -> None:
        """End the iteration."""
        self._is_stopped = True

    @property
    def is_finished(self) -> bool:
        """Whether more search would change nothing: the result is proved, or the tree full."""
        return self._search.is_finished

    def grow(self, nodes: int = MAX_SIMULATIONS, *, seconds: float = math.inf) -> int:
        """Run `nodes` simulations, or fewer if `seconds` are over; return how many were run."""
        begin = time.perf_counter()
        end = begin + seconds
        grown = self._search.grow(nodes, is_stopped=lambda: time.perf_counter() >= end)
        self._seconds += time.perf_counter() - begin
        return grown

    def gather(self, nodes: int) -> Floats:
        """Begin up to `nodes` simulations; return the planes [n, P, H, W] of their new positions.

        `ascend` ends them. The two are for programs that evaluate the positions of several searches
        in one batch; all others use `grow`. None of `nodes` may need the network: then n is 0.
        """
        return self._search.gather(nodes)

    def ascend(self, logits: Floats, wdl: Floats) -> None:
        """Take what the network says of the positions that `gather` returned last."""
        self._search.ascend(logits, wdl)

    @property
    def nodes(self) -> int:
        """Simulations so far."""
        return self._search.simulations

    def info(self, lines: int | None = None) -> AnalysisInfo:
        """Return the state so far, with another number of lines if it is given."""
        progress = self._search.progress
        return AnalysisInfo(
            lines=tuple(self._read_lines(self._lines if lines is None else lines)),
            nodes=progress.simulations,
            seconds=self._seconds,
            depth=progress.depth,
        )

    def lines_after(self, moves: Sequence[str] = ()) -> list[Line]:
        """Return all moves after `moves`, the best first; none where the tree ends.

        Values are for the player who is to move there.
        """
        board = self._board.copy()
        for move in moves:
            board.push(move)
        path = board.played.actions[len(self._board.played.actions) :]
        return self._read_lines(board.game.max_legal, path, board)

    def __iter__(self) -> Iterator[AnalysisInfo]:
        while not self._is_stopped:
            self.grow(seconds=SECONDS_BETWEEN)
            yield self.info()
            if self.is_finished:
                return

    def __enter__(self) -> "Analysis":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _read_lines(
        self, count: int, path: Sequence[Action] = (), board: Board | None = None
    ) -> list[Line]:
        state = (board or self._board).state
        return [self._line(each, state) for each in self._search.variations(count, path)]

    def _line(self, found: Variation, state: State) -> Line:
        moves = self._written(found.actions, state)
        return Line(
            move=moves[0],
            value=found.value,
            wdl=found.wdl,
            visits=found.visits,
            variation=moves,
            actions=found.actions,
            prior=found.prior,
        )

    def _written(self, actions: tuple[Action, ...], state: State) -> tuple[str, ...]:
        game = self._board.game
        board, moves = GameBoard(game, state), []
        for action in actions:
            moves.append(game.write_san(board.state, action))
            board.play(action)
        return tuple(moves)

    def __repr__(self) -> str:
        return f"<Analysis of {self._board!r}, {self._search.progress.simulations} nodes>"
