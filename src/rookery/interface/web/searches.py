"""Questions that need a search, as steps between two batches of the network.

`move` finds one move, `analyse` deepens until it has its nodes or is stopped, `report` searches
every position of a game. Values are for the player to move.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rookery.api import Analysis, Board, Line, Net
from rookery.base import IllegalPosition
from rookery.games import Game, State
from rookery.interface.web.boards import make_board, view_of
from rookery.interface.web.engine import Answer, Steps, Wanted
from rookery.interface.web.limits import MAX_SIMULATIONS
from rookery.interface.web.trees import Owner, Trees

FIRST_INFO_SECONDS = 0.05
INFO_SECONDS = 0.25
"""Time between two answers of an analysis, once it has gone on for a while."""
DIGITS = 4


@dataclass(frozen=True)
class Asked:
    """What a question is about."""

    key: str
    """The name of the game."""
    game: Game
    start: str
    moves: tuple[str, ...]
    player: str = ""

    @property
    def place(self) -> tuple[str, str, tuple[str, ...], str]:
        """What an analysis is kept under."""
        return self.key, self.start, self.moves, self.player

    def board(self) -> Board:
        """Return the position, or raise IllegalPosition."""
        return make_board(self.game, self.start, self.moves)


def move_steps(
    asked: Asked, net: Net, trees: Trees, *, simulations: int, seconds: float | None
) -> Steps:
    """Search for a move with a number of simulations or for a time, then answer with it."""
    board = asked.board()
    _require_going_on(board)
    nodes = MAX_SIMULATIONS if seconds is not None else simulations
    end = None if seconds is None else time.monotonic() + seconds
    with trees.use_once(
        game=asked.game, nodes=nodes, make=lambda size: Analysis(board, net, max_nodes=size)
    ) as analysis:
        yield from _grow(analysis, nodes, end)
        best = analysis.info().lines[0]
    state, action = board.state.copy(), best.actions[0]
    board.played.play(action)
    yield {
        "move": asked.game.write_move(state, action),
        "label": best.move,
        "value": _rounded(best.value),
        "wdl": [_rounded(share) for share in best.wdl],
        "view": view_of(board, asked.key),
        "done": True,
    }


def _grow(analysis: Analysis, nodes: int, end: float | None) -> Steps:
    """Search until the tree has `nodes` simulations or the time is over."""
    while analysis.nodes < nodes and (end is None or time.monotonic() < end):
        planes = analysis.gather(nodes - analysis.nodes)
        if len(planes):
            analysis.ascend(*(yield Wanted(analysis.evaluator, planes)))
        elif analysis.is_finished:
            return


def analyse_steps(
    owner: Owner, asked: Asked, net: Net, trees: Trees, *, nodes: int, lines: int
) -> Steps:
    """Deepen the search of a position; the tree is kept for `tree` questions."""
    board = asked.board()
    _require_going_on(board)
    with trees.use(
        owner,
        asked.place,
        game=asked.game,
        nodes=nodes,
        make=lambda size: Analysis(board, net, max_nodes=size),
    ) as tree:
        begin = last = time.monotonic()
        is_done = False
        while not is_done:
            with tree.lock:
                planes = tree.analysis.gather(nodes - tree.analysis.nodes)
            outputs = (yield Wanted(tree.analysis.evaluator, planes)) if len(planes) else None
            with tree.lock:
                if outputs is not None:
                    tree.analysis.ascend(*outputs)
                is_done = tree.analysis.is_finished or tree.analysis.nodes >= nodes
                now = time.monotonic()
                wait = min(INFO_SECONDS, max(FIRST_INFO_SECONDS, (now - begin) / 4))
                info = _info(tree.analysis, board, lines) if is_done or now >= last + wait else None
            if info is not None:
                last = now
                yield {"info": info, "done": True} if is_done else {"info": info}


def _info(analysis: Analysis, board: Board, lines: int) -> dict[str, Any]:
    info = analysis.info(lines)
    return {
        "nodes": info.nodes,
        "seconds": round(info.seconds, 2),
        "depth": info.depth,
        "finished": analysis.is_finished,
        "lines": [plain_line(line, board) for line in info.lines],
    }


def plain_line(line: Line, board: Board) -> dict[str, Any]:
    """Return a move of an analysis and its variation for the page."""
    moves = list(_written(board.game, board.state, line.actions))
    return {
        "move": moves[0],
        "label": line.move,
        "value": _rounded(line.value),
        "wdl": [_rounded(share) for share in line.wdl],
        "visits": line.visits,
        "prior": _rounded(line.prior),
        "variation": moves,
        "labels": line.variation,
    }


def children(owner: Owner, asked: Asked, trees: Trees, path: Sequence[str]) -> Answer:
    """Return the moves that a kept tree has after `path`; none where it ends."""
    tree = trees.find(owner, asked.place)
    board = asked.board()
    for move in path:
        board.push(move)
    if tree is None:
        return {"children": [], "kept": False}
    with tree.lock:
        found = [] if board.is_over else tree.analysis.lines_after(path)
    plain = [plain_line(line, board) for line in found]
    return {"children": plain, "kept": True}


def report_steps(asked: Asked, net: Net, trees: Trees, *, nodes: int) -> Steps:
    """Search every position of a game, and answer with one value after the other."""
    board = Board(asked.game, asked.start)
    for ply in range(len(asked.moves) + 1):
        if board.is_over:
            yield {"ply": ply, **_end(board)}
        else:
            yield from _report(asked, board, net, trees, nodes, ply=ply)
        if ply < len(asked.moves):
            board.push(asked.moves[ply])
    yield {"done": True}


def _report(asked: Asked, board: Board, net: Net, trees: Trees, nodes: int, *, ply: int) -> Steps:
    with trees.use_once(
        game=asked.game, nodes=nodes, make=lambda size: Analysis(board, net, max_nodes=size)
    ) as analysis:
        yield from _grow(analysis, nodes, None)
        best = analysis.info().lines[0]
        yield {
            "ply": ply,
            "value": _rounded(best.value),
            "wdl": [_rounded(share) for share in best.wdl],
            "best": asked.game.write_move(board.state, best.actions[0]),
            "label": best.move,
        }


def _end(board: Board) -> Answer:
    """Return the value of the last position of a game, for the player who would move."""
    assert board.outcome is not None
    value = -board.outcome if board.turn else board.outcome
    wdl = [float(value > 0), float(value == 0), float(value < 0)]
    return {"value": float(value), "wdl": wdl, "best": None, "label": None}


def _require_going_on(board: Board) -> None:
    if board.is_over:
        raise IllegalPosition("the game is over in this position; there is no move to find")


def _written(game: Game, state: State, actions: Sequence[int]) -> Iterator[str]:
    state = state.copy()
    for action in actions:
        yield game.write_move(state, action)
        game.rules.play(state, action)


def _rounded(number: float) -> float:
    return round(float(number), DIGITS)
