"""The strength test of Connect Four: moves in solved positions."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from math import ceil

from rookery.arena.player import Player, choose_moves
from rookery.arena.solvers import SolvedPosition
from rookery.arena.strength.grading import MoveGrade, error_rows, grade_move, sampled
from rookery.arena.strength.strength_test import PartResult, Strength, StrengthTest
from rookery.games import load_game

POSITIONS_PER_PART = 512


@dataclass(frozen=True)
class PositionTest(StrengthTest):
    """Counts errors in Connect Four positions in which the score of every move is known."""

    positions: tuple[SolvedPosition, ...]

    @property
    def parts(self) -> int:
        """Number of parts."""
        return ceil(len(self.positions) / POSITIONS_PER_PART)

    def measure_part(self, player: Player, part: int) -> PartResult:
        """Return the moves of the player in the positions of one part."""
        positions = self.positions[part * POSITIONS_PER_PART :][:POSITIONS_PER_PART]
        connect4 = load_game("connect4")
        states = connect4.blank_states(len(positions))
        for index, position in enumerate(positions):
            states[index] = connect4.position(position.moves)
        moves: PartResult = choose_moves(player, states, game=connect4).tolist()
        return moves

    def combine(self, results: Sequence[PartResult]) -> Strength:
        """Return the errors by group of positions, in the order of the groups, and in total."""
        groups: dict[str, list[MoveGrade]] = defaultdict(list)
        for position, action in zip(self.positions, chain(*results), strict=True):
            groups[position.group].append(grade_move(position.scores, action))
        rows = error_rows(groups, percentage=sampled)
        return Strength(rows[-1].errors.percent, "moves that lose game value", rows)
