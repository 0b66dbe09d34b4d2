"""Strength measured: against the truth where a game is solved, else against fixed opponents."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from rookery.arena.lockstep import distinct, outcomes, play_each, successors
from rookery.arena.match import MatchReport, Tally, play_match
from rookery.arena.player import Player, ask
from rookery.arena.players import MinimaxPlayer, RandomPlayer, Solver
from rookery.arena.solvers import ExhaustiveSolver, Position, load_positions
from rookery.arena.strength import ErrorTable, Row, Share, Strength, exact, sampled
from rookery.games import DRAW, LOSS, ONGOING, WIN, Game, States, game

Scores = Sequence[int | None]
Count = Callable[[int, int], Share]


class Ruler(Protocol):
    """Measures players of one game."""

    def measure(self, player: Player) -> Strength:
        """How strong the player is."""


def ruler_for(game: Game) -> Ruler:
    """The sharpest ruler there is for `game`."""
    if game.name == "connect4":
        return PositionRuler(load_positions())
    if game.name == "tictactoe":
        return ExhaustiveRuler(game, ExhaustiveSolver(game))
    return MatchRuler(game)


@dataclass(frozen=True)
class PositionRuler:
    """Connect Four: mistakes in positions whose scores are known."""

    positions: tuple[Position, ...]

    def measure(self, player: Player) -> Strength:
        """Mistakes by group, and in all."""
        table = measure_positions(player, self.positions)
        rows = (*table.rows, table.total)
        return Strength(table.total.errors.percent, "moves that lose game value", rows)


@dataclass(frozen=True)
class ExhaustiveRuler:
    """A tiny game: mistakes in every position, and games against every reply."""

    game: Game
    solver: Solver

    def measure(self, player: Player) -> Strength:
        """Mistakes by ply and in all, then the share of the games lost."""
        table = measure_exhaustively(player, self.game, solver=self.solver)
        tally = play_every_reply(player, self.game)
        lost = Row("lost to any reply", tally.games, exact(tally.losses, tally.games), None)
        rows = (*table.rows, table.total, lost)
        return Strength(table.total.errors.percent, "moves that lose game value", rows)


@dataclass(frozen=True)
class MatchRuler:
    """Any game: points lost to a plain opponent and to a random one."""

    game: Game
    games: int = 64
    """Games against each opponent."""
    opening_plies: int = 2
    seed: int = 0

    def measure(self, player: Player) -> Strength:
        """The points lost to minimax:2, then those lost to random."""
        opponents: tuple[Player, ...] = (
            MinimaxPlayer(self.game, 2, seed=self.seed),
            RandomPlayer(self.game, seed=self.seed),
        )
        rows = tuple(_match_row(self._play(player, opponent)) for opponent in opponents)
        return Strength(rows[0].errors.percent, f"points lost to {rows[0].label}", rows)

    def _play(self, player: Player, opponent: Player) -> MatchReport:
        return play_match(
            self.game,
            player,
            opponent,
            games=self.games,
            seed=self.seed,
            opening_plies=self.opening_plies,
        )


def measure_positions(player: Player, positions: Sequence[Position]) -> ErrorTable:
    """Mistakes of a Connect Four player by group of positions, in the groups' own order."""
    connect4 = game("connect4")
    states = connect4.blank_states(len(positions))
    for index, position in enumerate(positions):
        states[index] = connect4.position(position.moves)
    actions = ask(player, states, game=connect4)
    groups: dict[str, list[Judgement]] = defaultdict(list)
    for position, action in zip(positions, actions.tolist(), strict=True):
        groups[position.group].append(judge(position.scores, action))
    return _table(groups, count=sampled)


def measure_exhaustively(player: Player, game: Game, *, solver: Solver) -> ErrorTable:
    """Mistakes by ply in every position that can be reached; for tiny games."""
    groups: dict[str, list[Judgement]] = {}
    for ply, states in enumerate(reachable(game)):
        pairs = zip(states, ask(player, states, game=game).tolist(), strict=True)
        groups[f"ply {ply}"] = [judge(solver.scores(state), action) for state, action in pairs]
    return _table(groups, count=exact)


def reachable(game: Game) -> Iterator[States]:
    """Every position that is not over, ply by ply; for tiny games."""
    states = game.new_states(1)
    while len(states):
        yield states
        states = distinct(successors(game, states))
        states = states[outcomes(game, states) == ONGOING]


def never_loses(player: Player, game: Game) -> bool:
    """Whether no line of play at all beats the player; for tiny games."""
    return play_every_reply(player, game).losses == 0


def play_every_reply(player: Player, game: Game) -> Tally:
    """Both colours against an opponent that tries every move: the results for the player."""
    results: dict[int, int] = defaultdict(int)
    for players_turn in (True, False):
        states = game.new_states(1)
        while len(states):
            if players_turn:
                play_each(game, states, ask(player, states, game=game))
            else:
                states = successors(game, states)
            players_turn = not players_turn
            ends = outcomes(game, states)
            for end in ends[ends != ONGOING].tolist():
                results[end if players_turn else -end] += 1
            states = states[ends == ONGOING]
    return Tally(results[WIN], results[DRAW], results[LOSS])


@dataclass(frozen=True)
class Judgement:
    """One move beside the truth."""

    is_error: bool
    """It gives away game value."""
    is_not_best: bool
    """Another move wins faster or loses slower, or better."""


def judge(scores: Scores, action: int) -> Judgement:
    """`action` in a position whose actions are worth `scores` [A], None where illegal."""
    best = max(score for score in scores if score is not None)
    chosen = scores[action]
    assert chosen is not None
    return Judgement(bool(np.sign(chosen) < np.sign(best)), chosen < best)


def _table(groups: dict[str, list[Judgement]], *, count: Count) -> ErrorTable:
    everything = [judgement for judgements in groups.values() for judgement in judgements]
    rows = tuple(_row(group, judgements, count=count) for group, judgements in groups.items())
    return ErrorTable(rows, _row("total", everything, count=count))


def _row(label: str, judgements: Sequence[Judgement], *, count: Count) -> Row:
    number = len(judgements)
    errors = count(sum(judgement.is_error for judgement in judgements), number)
    not_best = count(sum(judgement.is_not_best for judgement in judgements), number)
    return Row(label, number, errors, not_best)


def _match_row(report: MatchReport) -> Row:
    total, difference = report.total, report.difference
    lost = Share(
        count=total.losses + total.draws / 2,
        percent=100 * (1 - difference.score),
        low=100 * (1 - difference.score_high),
        high=100 * (1 - difference.score_low),
    )
    return Row(report.b, total.games, lost, None)
