"""Analysis of positions: what a network and its search think of them, many at a time."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from rookery.api.board import Board
from rookery.api.net import Net, as_net, check_simulations, parts_of
from rookery.api.players import NetRef
from rookery.base import ConfigError, IllegalPosition
from rookery.games import ONGOING, Game
from rookery.games import Board as GameBoard
from rookery.search import (
    Decisions,
    DeviceEvaluator,
    Evaluator,
    SearchConfig,
    new_search,
    nodes_in_memory,
)

MAX_BATCH = 256
"""Positions searched at once, at most."""
TREES_MB = 1024
"""Memory of all trees: many simulations leave room for fewer positions at once."""
EVALUATOR_ROWS = 16
"""Positions per call of the network. With 4, a single position would take 0.4 times as long, but a
row's results would depend on its place in the call."""
DIGITS = 4


@dataclass(frozen=True)
class Candidate:
    """A legal move and how much the search liked it."""

    move: str
    policy: float
    visits: int


@dataclass(frozen=True)
class Found:
    """The result of one search, with moves in the game's notation.

    Values are for the player to move.
    """

    move: str
    value: float
    """From -1, lost, to 1, won."""
    draw: float
    """Probability of a draw."""
    policy: dict[str, float]
    visits: dict[str, int]

    @property
    def wdl(self) -> tuple[float, float, float]:
        """Probabilities of win, draw and loss."""
        return (1 - self.draw + self.value) / 2, self.draw, (1 - self.draw - self.value) / 2

    @property
    def lines(self) -> list[Candidate]:
        """All legal moves, the most likely first."""
        found = [Candidate(move, self.policy[move], self.visits[move]) for move in self.policy]
        return sorted(found, key=lambda each: (-each.policy, -each.visits))

    def to_plain(self) -> dict[str, Any]:
        """Return the fields of a JSON object, with win, draw and loss probabilities."""
        return {
            "move": self.move,
            "value": round(self.value, DIGITS),
            "wdl": [round(share, DIGITS) for share in self.wdl],
            "policy": {move: round(share, DIGITS) for move, share in self.policy.items()},
            "visits": self.visits,
        }


@overload
def analyse(
    boards: Board, net: Net | Evaluator | str | None = None, *, simulations: int = 100
) -> Found: ...
@overload
def analyse(
    boards: Sequence[Board], net: Net | Evaluator | str | None = None, *, simulations: int = 100
) -> list[Found]: ...
def analyse(
    boards: Board | Sequence[Board],
    net: Net | Evaluator | str | None = None,
    *,
    simulations: int = 100,
) -> Found | list[Found]:
    """Search the position of a board, or those of several at once.

    `net` is a network, its name, or any function from planes [B, P, H, W] to logits [B, A] and
    win-draw-loss probabilities [B, 3]. Without one, all moves and results are equally likely.
    With `simulations=0` the network alone decides, unless a move wins at once.
    """
    asked = [boards] if isinstance(boards, Board) else list(boards)
    if not asked:
        return []
    check_simulations(simulations)
    game = asked[0].game
    if others := {board.game.name for board in asked} - {game.name}:
        raise ConfigError(f"the boards are of different games: {game.name} and {min(others)}")
    evaluator, config = parts_of(as_net(net), game, rows=EVALUATOR_ROWS)
    analyser = Analyser(
        game,
        evaluator,
        search=config,
        simulations=simulations,
        batch_size=len(asked),
    )
    found: list[Found] = []
    while len(found) < len(asked):
        part = asked[len(found) : len(found) + analyser.batch_size]
        for answer in analyser.analyse([board.played for board in part]):
            if isinstance(answer, IllegalPosition):
                raise answer
            found.append(answer)
    return found[0] if isinstance(boards, Board) else found


class Analyser:
    """Searches batches of positions with a network.

    The answer to a position depends on nothing else in its batch. The search does not explore, so
    the random streams of the trees have no effect, and the network sees the same number of rows
    at every call: on a GPU those of all trees, on the CPU EVALUATOR_ROWS.
    """

    def __init__(
        self,
        game: Game,
        evaluator: Evaluator,
        *,
        search: SearchConfig,
        simulations: int,
        seed: int = 1,
        batch_size: int = MAX_BATCH,
    ) -> None:
        self._game, self._simulations = game, simulations
        nodes = nodes_in_memory(game, TREES_MB)
        self.batch_size = max(1, min(MAX_BATCH, batch_size, nodes // (simulations + 1)))
        is_on_gpu = isinstance(evaluator, DeviceEvaluator)
        self._search = new_search(
            game,
            evaluator if is_on_gpu else PaddedEvaluator(evaluator, EVALUATOR_ROWS),
            config=search,
            num_games=self.batch_size,
            max_simulations=simulations,
            explore=False,
            seed=seed,
        )

    @classmethod
    def of_net(cls, net: NetRef, *, devices: str = "cpu") -> "Analyser":
        """Return an analyser with the network, search and simulations of `net`."""
        player = net.player(inference=net.inference, devices=devices)
        return cls(
            net.game,
            replace(player, batch_size=EVALUATOR_ROWS).evaluator(),
            search=net.search,
            simulations=net.simulations,
            seed=net.seed,
        )

    def analyse(self, positions: Sequence[str | GameBoard]) -> list[Found | IllegalPosition]:
        """Return one answer, or the reason why there is none, for each of up to `batch_size`."""
        boards = [self._read(position) for position in positions]
        legal = [board for board in boards if isinstance(board, GameBoard)]
        found = iter(self._search_all(legal))
        return [next(found) if isinstance(board, GameBoard) else board for board in boards]

    def _read(self, position: str | GameBoard) -> GameBoard | IllegalPosition:
        try:
            board = position
            if isinstance(board, str):
                board = GameBoard.from_text(self._game, board)
        except IllegalPosition as error:
            return error
        if self._game.rules.outcome(board.state) != ONGOING:
            return IllegalPosition("the game is over in this position; there is no move to find")
        return board

    def _search_all(self, boards: Sequence[GameBoard]) -> list[Found]:
        if not boards:
            return []
        repetitions = self._search.repetitions
        for g, board in enumerate(boards):
            self._search.roots[g] = board.state
            repetitions.keys[g] = board.repetitions.keys[0]
            repetitions.counts[g] = board.repetitions.counts[0]
        found = self._search.run(self._simulations, len(boards))
        return [self._answer(found, g, board) for g, board in enumerate(boards)]

    def _answer(self, found: Decisions, g: int, board: GameBoard) -> Found:
        moves = {
            action: self._game.write_san(board.state, action)
            for action in self._game.legal_actions(board.state)
        }
        return Found(
            move=moves[int(found.actions[g])],
            value=float(found.values[g, 0]),
            draw=float(found.values[g, 1]),
            policy={move: float(found.policy[g, action]) for action, move in moves.items()},
            visits={move: int(found.visits[g, action]) for action, move in moves.items()},
        )


class PaddedEvaluator:
    """An evaluator on the CPU that is called with `rows` positions each time, if need be zeros.

    The results of a row differ in their last bits between batches of different sizes, and a search
    can turn them into another move.
    """

    def __init__(self, evaluator: Evaluator, rows: int) -> None:
        self._evaluator, self._rows = evaluator, rows

    def __call__(
        self, planes: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return policy logits [B, A] and win-draw-loss probabilities [B, 3] of [B, P, H, W]."""
        missing = -len(planes) % self._rows
        zeros = np.zeros((missing, *planes.shape[1:]), planes.dtype)
        full = np.concatenate([planes, zeros])
        starts = range(0, len(full) or 1, self._rows)
        parts = [self._evaluator(full[start : start + self._rows]) for start in starts]
        logits, wdl = (
            np.concatenate(outputs)[: len(planes)] for outputs in zip(*parts, strict=True)
        )
        return logits, wdl
