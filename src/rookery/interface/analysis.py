"""Analysis of positions: what a network and its search think of them, many at a time."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rookery.base import IllegalPosition
from rookery.games import ONGOING, Board
from rookery.interface.players import NetRef
from rookery.search import Decisions, DeviceEvaluator, Evaluator, new_search, nodes_in_memory

MAX_BATCH = 256
"""Positions searched at once, at most."""
TREES_MB = 1024
"""Memory of all trees: many simulations leave room for fewer positions at once."""
EVALUATOR_ROWS = 16
DIGITS = 4


@dataclass(frozen=True)
class Analysis:
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

    def to_plain(self) -> dict[str, Any]:
        """Return the fields of a JSON object, with win, draw and loss probabilities."""
        wdl = ((1 - self.draw + self.value) / 2, self.draw, (1 - self.draw - self.value) / 2)
        return {
            "move": self.move,
            "value": round(self.value, DIGITS),
            "wdl": [round(share, DIGITS) for share in wdl],
            "policy": {move: round(share, DIGITS) for move, share in self.policy.items()},
            "visits": self.visits,
        }


class Analyser:
    """Searches batches of positions, given as text, with a network.

    The answer to a position depends on nothing else in its batch. The search does not explore, so
    the random streams of the trees have no effect, and the network sees the same number of rows
    at every call: on a GPU those of all trees, on the CPU EVALUATOR_ROWS.
    """

    def __init__(self, net: NetRef, *, devices: str = "cpu") -> None:
        self._game = net.game
        self._simulations = net.simulations
        nodes = nodes_in_memory(net.game, TREES_MB)
        self.batch_size = max(1, min(MAX_BATCH, nodes // (net.simulations + 1)))
        player = net.player(inference=net.inference, devices=devices)
        evaluator = replace(player, batch_size=EVALUATOR_ROWS).evaluator()
        is_on_gpu = isinstance(evaluator, DeviceEvaluator)
        self._search = new_search(
            net.game,
            evaluator if is_on_gpu else PaddedEvaluator(evaluator, EVALUATOR_ROWS),
            config=net.search,
            num_games=self.batch_size,
            max_simulations=net.simulations,
            explore=False,
            seed=net.seed,
        )

    def analyse(self, texts: Sequence[str]) -> list[Analysis | IllegalPosition]:
        """Return one answer, or the reason why there is none, for each of up to `batch_size`."""
        boards = [self._read(text) for text in texts]
        legal = [board for board in boards if isinstance(board, Board)]
        found = iter(self._search_all(legal))
        return [next(found) if isinstance(board, Board) else board for board in boards]

    def _read(self, text: str) -> Board | IllegalPosition:
        try:
            board = Board.from_text(self._game, text)
        except IllegalPosition as error:
            return error
        if self._game.rules.outcome(board.state) != ONGOING:
            return IllegalPosition("the game is over in this position; there is no move to find")
        return board

    def _search_all(self, boards: Sequence[Board]) -> list[Analysis]:
        if not boards:
            return []
        repetitions = self._search.repetitions
        for g, board in enumerate(boards):
            self._search.roots[g] = board.state
            repetitions.keys[g] = board.repetitions.keys[0]
            repetitions.counts[g] = board.repetitions.counts[0]
        found = self._search.run(self._simulations, len(boards))
        return [self._analysis(found, g, board) for g, board in enumerate(boards)]

    def _analysis(self, found: Decisions, g: int, board: Board) -> Analysis:
        moves = {
            action: self._game.write_san(board.state, action)
            for action in self._game.legal_actions(board.state)
        }
        return Analysis(
            move=moves[int(found.actions[g])],
            value=float(found.values[g, 0]),
            draw=float(found.values[g, 1]),
            policy={move: float(found.policy[g, action]) for action, move in moves.items()},
            visits={move: int(found.visits[g, action]) for action, move in moves.items()},
        )


class PaddedEvaluator:
    """An evaluator on the CPU whose calls are filled up with zeros to a multiple of `rows`.

    The evaluator splits its input into batches of `rows`. The results of a row differ in their
    last bits between batches of different sizes, and a search can turn them into another move.
    """

    def __init__(self, evaluator: Evaluator, rows: int) -> None:
        self._evaluator, self._rows = evaluator, rows

    def __call__(
        self, planes: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return policy logits [B, A] and win-draw-loss probabilities [B, 3] of [B, P, H, W]."""
        missing = -len(planes) % self._rows
        zeros = np.zeros((missing, *planes.shape[1:]), planes.dtype)
        logits, wdl = self._evaluator(np.concatenate([planes, zeros]))
        return logits[: len(planes)], wdl[: len(planes)]
