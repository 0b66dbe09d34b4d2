"""Self-play of chess as alpha-zero-general does it: PUCT over dictionaries, one position at a time.

Own code in its manner: statistics in dictionaries by position and move, a recursive search, one
call of the net a leaf, counts to the power of 1 / temperature as policy, a new tree each game.
Boards are python-chess's, whose moves are made and taken back rather than copied, and only legal
moves are looked at: both are kinder to it than its own code. Net, planes and actions are ours.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

import chess
import numpy as np
from numpy.typing import NDArray

from rookery.games.chess.actions import ACTION_OF, UNDERPROMOTION_OF

Evaluate = Callable[[NDArray[np.float32]], tuple[NDArray[np.float32], float]]
"""Logits [A] and the value for the player to move, of planes [P, 8, 8]."""
Sample = tuple[NDArray[np.float32], dict[int, float], int]
"""Planes, policy, and the result for the player to move."""

CPUCT, EPSILON, TEMPERATURE_PLIES = 1.0, 1e-8, 15
FIFTY_MOVES, MAX_PLIES = 100, 512
PIECES = (chess.KNIGHT, chess.BISHOP, chess.ROOK)  # a pawn may become, in our order


def planes_of(board: chess.Board) -> NDArray[np.float32]:
    """What our net sees of a position: see `rookery.games.chess.planes`."""
    own, foe = board.occupied_co[board.turn], board.occupied_co[not board.turn]
    kinds = (board.pawns, board.knights, board.bishops, board.rooks, board.queens, board.kings)
    square = board.ep_square if board.has_legal_en_passant() else None
    passant = 0 if square is None else chess.BB_SQUARES[square]
    boards = [kind & own for kind in kinds] + [kind & foe for kind in kinds]
    bits = np.array([*boards, board.clean_castling_rights(), passant], np.uint64)
    rows = bits.view(np.uint8).reshape(-1, 8)  # the lowest rank first
    rows = rows[:, ::-1] if board.turn else rows
    planes = np.zeros((16, 8, 8), np.float32)
    planes[:14] = np.unpackbits(rows[:, :, None], axis=2, bitorder="little")
    planes[14] = board.halfmove_clock / FIFTY_MOVES
    planes[15] = board.is_repetition(2)
    return planes


def action_of(board: chess.Board, move: chess.Move) -> int:
    """Our number of a move."""
    turned = 0 if board.turn else 56
    pair = (move.from_square ^ turned) + 64 * (move.to_square ^ turned)
    if move.promotion in PIECES:
        return int(UNDERPROMOTION_OF[pair]) + PIECES.index(move.promotion)
    return int(ACTION_OF[pair])


def result_of(board: chess.Board) -> float | None:
    """The result for the player to move, None while the game goes on."""
    if not any(board.generate_legal_moves()):
        return -1.0 if board.is_check() else 0.0
    is_drawn = (
        board.halfmove_clock >= FIFTY_MOVES
        or board.is_insufficient_material()
        or board.is_repetition(3)
    )
    return 0.0 if is_drawn else None


class DictSearch:
    """One tree, for one game."""

    def __init__(self, evaluate: Evaluate) -> None:
        self._evaluate = evaluate
        self._results: dict[str, float | None] = {}
        self._legal: dict[str, list[tuple[chess.Move, int]]] = {}
        self._priors: dict[str, NDArray[np.float32]] = {}
        self._visits: dict[str, int] = {}
        self._edge_visits: dict[tuple[str, int], int] = {}
        self._edge_values: dict[tuple[str, int], float] = {}
        self.evaluations = 0

    def policy(self, board: chess.Board, simulations: int, temperature: float) -> dict[int, float]:
        """Share of each action after so many simulations; the most visited one at temperature 0."""
        for _ in range(simulations):
            self.simulate(board)
        key = board.fen()
        counts = {a: self._edge_visits.get((key, a), 0) for _, a in self._legal[key]}
        if temperature == 0:
            best = max(counts, key=counts.__getitem__)
            return {action: float(action == best) for action in counts}
        powers = {action: count ** (1 / temperature) for action, count in counts.items()}
        total = sum(powers.values())
        return {action: power / total for action, power in powers.items()}

    def simulate(self, board: chess.Board) -> float:
        """One simulation from `board`; its value for the player who moved there."""
        key = board.fen()
        if key not in self._results:
            self._results[key] = result_of(board)
        if (result := self._results[key]) is not None:
            return -result
        if key not in self._priors:
            return -self._expand(board, key)
        move, action = self._select(key)
        board.push(move)
        value = self.simulate(board)
        board.pop()
        edge = (key, action)
        visits = self._edge_visits.get(edge, 0)
        mean = self._edge_values.get(edge, 0.0)
        self._edge_values[edge] = (visits * mean + value) / (visits + 1)
        self._edge_visits[edge] = visits + 1
        self._visits[key] += 1
        return -value

    def _expand(self, board: chess.Board, key: str) -> float:
        """Ask the net; the value for the player to move."""
        logits, value = self._evaluate(planes_of(board))
        self.evaluations += 1
        legal = [(move, action_of(board, move)) for move in board.legal_moves]
        chosen = logits[[action for _, action in legal]]
        shares = np.exp(chosen - chosen.max())
        self._legal[key], self._priors[key] = legal, shares / shares.sum()
        self._visits[key] = 0
        return value

    def _select(self, key: str) -> tuple[chess.Move, int]:
        """The legal move of the highest upper bound."""
        best, chosen = -math.inf, self._legal[key][0]
        root = math.sqrt(self._visits[key] + EPSILON)
        for (move, action), prior in zip(self._legal[key], self._priors[key], strict=True):
            visits = self._edge_visits.get((key, action), 0)
            bound = CPUCT * prior * root / (1 + visits)
            bound += self._edge_values.get((key, action), 0.0)
            if bound > best:
                best, chosen = bound, (move, action)
        return chosen


def play_games(evaluate: Evaluate, simulations: int, *, seed: int) -> Iterator[tuple[int, int]]:
    """Games for ever; after each move the evaluations it took, and the samples of a game's end."""
    generator = np.random.default_rng(seed)
    while True:
        board, search = chess.Board(), DictSearch(evaluate)
        rows: list[tuple[Any, dict[int, float], bool]] = []
        while (result := result_of(board)) is None and board.ply() < MAX_PLIES:
            before = search.evaluations
            temperature = float(board.ply() < TEMPERATURE_PLIES)
            policy = search.policy(board, simulations, temperature)
            rows.append((planes_of(board), policy, board.turn))
            action = generator.choice(list(policy), p=list(policy.values()))
            board.push(next(m for m in board.legal_moves if action_of(board, m) == action))
            yield search.evaluations - before, 0
        samples = to_samples(rows, result or 0.0, board.turn)
        yield 0, len(samples)


def to_samples(
    rows: list[tuple[Any, dict[int, float], bool]], result: float, last: bool
) -> list[Sample]:
    """The rows of a game with its result, which is for the player `last` to move."""
    return [
        (planes, policy, int(result if turn == last else -result)) for planes, policy, turn in rows
    ]
