"""Strength tests of solved games: moves compared with perfect play."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import ceil

import numpy as np

from rookery.arena.lockstep import distinct, outcomes, play_each, successors
from rookery.arena.match import WinDrawLoss
from rookery.arena.player import Player, choose_moves
from rookery.arena.players.solver import Solver
from rookery.arena.rating.elo import wilson
from rookery.arena.solvers.positions import SolvedPosition
from rookery.arena.strength.strength_test import (
    PartResult,
    Percentage,
    Strength,
    StrengthRow,
    StrengthTest,
)
from rookery.games import DRAW, LOSS, ONGOING, WIN, Game, States, load_game

POSITIONS_PER_PART = 512
Scores = Sequence[int | None]
"""[A] the score of each action for the player to move, None if it is illegal."""
PercentageOf = Callable[[int, int], Percentage]


@dataclass(frozen=True)
class MoveGrade:
    """A move compared with the best one."""

    is_error: bool
    """It loses game value."""
    is_not_best: bool
    """Another move has a higher score: it wins, draws, wins faster or loses slower."""


def grade_move(scores: Scores, action: int) -> MoveGrade:
    """Return the grade of a legal action."""
    best = max(score for score in scores if score is not None)
    chosen = scores[action]
    assert chosen is not None
    return MoveGrade(bool(np.sign(chosen) < np.sign(best)), chosen < best)


def error_rows(
    groups: Mapping[str, Sequence[MoveGrade]], *, percentage: PercentageOf
) -> tuple[StrengthRow, ...]:
    """Return one row per group, then the row `total`."""
    rows = {**groups, "total": list(chain(*groups.values()))}
    return tuple(
        StrengthRow(
            label,
            len(grades),
            percentage(sum(grade.is_error for grade in grades), len(grades)),
            percentage(sum(grade.is_not_best for grade in grades), len(grades)),
        )
        for label, grades in rows.items()
    )


def sampled(count: int, number: int) -> Percentage:
    """Return `count` of `number` as a sample of a larger set, with Wilson's interval."""
    low, high = wilson(count / number, number)
    return Percentage(count, 100 * count / number, 100 * low, 100 * high)


def exact(count: int, number: int) -> Percentage:
    """Return `count` of `number`, where `number` is the whole set."""
    percent = 100 * count / number
    return Percentage(count, percent, percent, percent)


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


@dataclass(frozen=True)
class ExhaustiveTest(StrengthTest):
    """Counts errors in all reachable positions, and losses to an opponent that tries all moves."""

    game: Game
    solver: Solver

    @property
    def parts(self) -> int:
        """Two parts: the positions and the games."""
        return 2

    def measure_part(self, player: Player, part: int) -> PartResult:
        """Return the moves in all positions, ply by ply; or the results of all games."""
        if part == 0:
            return [
                choose_moves(player, states, game=self.game).tolist()
                for states in reachable_states(self.game)
            ]
        counts = play_every_reply(player, self.game)
        return [counts.wins, counts.draws, counts.losses]

    def combine(self, results: Sequence[PartResult]) -> Strength:
        """Return the errors by ply and in total, then the percentage of games lost."""
        groups: dict[str, list[MoveGrade]] = {}
        for ply, (states, moves) in enumerate(
            zip(reachable_states(self.game), results[0], strict=True)
        ):
            groups[f"ply {ply}"] = [
                grade_move(self.solver.scores(state), action)
                for state, action in zip(states, moves, strict=True)
            ]
        rows = error_rows(groups, percentage=exact)
        counts = WinDrawLoss(*results[1])
        lost = exact(counts.losses, counts.games)
        games = StrengthRow("lost to any reply", counts.games, lost, None)
        return Strength(rows[-1].errors.percent, "moves that lose game value", (*rows, games))


def reachable_states(game: Game) -> Iterator[States]:
    """Yield all reachable positions that are not terminal, ply by ply."""
    states = game.new_states(1)
    while len(states):
        yield states
        states = distinct(successors(game, states))
        states = states[outcomes(game, states) == ONGOING]


def play_every_reply(player: Player, game: Game) -> WinDrawLoss:
    """Play both colours against an opponent that tries every move, and count the results."""
    results: Counter[int] = Counter()
    for player_moves in (True, False):
        states = game.new_states(1)
        while len(states):
            if player_moves:
                play_each(game, states, choose_moves(player, states, game=game))
            else:
                states = successors(game, states)
            player_moves = not player_moves
            ends = outcomes(game, states)
            results.update((ends if player_moves else -ends)[ends != ONGOING].tolist())
            states = states[ends == ONGOING]
    return WinDrawLoss(results[WIN], results[DRAW], results[LOSS])
