"""The strength test of tiny games: moves in every position, and games against every reply."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rookery.arena.lockstep import distinct, outcomes, play_each, successors
from rookery.arena.match import WinDrawLoss
from rookery.arena.player import Player, choose_moves
from rookery.arena.players import Solver
from rookery.arena.strength.grading import MoveGrade, error_rows, exact, grade_move
from rookery.arena.strength.strength_test import PartResult, Strength, StrengthRow, StrengthTest
from rookery.games import DRAW, LOSS, ONGOING, WIN, Game, States


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
