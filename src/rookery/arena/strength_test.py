"""Strength measured: against the truth where a game is solved, else against fixed opponents.

A ruler looks at a player in parts, each of which may be seen by another process, and concludes
from what was seen.
"""

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from math import ceil
from typing import Any

import numpy as np

from rookery.arena.book import has_book
from rookery.arena.lockstep import distinct, outcomes, play_each, successors
from rookery.arena.match import (
    MatchGame,
    MatchPlan,
    MatchReport,
    Tally,
    part_seed,
    play_part,
    report_match,
)
from rookery.arena.player import Player, ask
from rookery.arena.players import MinimaxPlayer, RandomPlayer, Solver
from rookery.arena.solvers import ExhaustiveSolver, SolvedPosition, load_positions
from rookery.arena.strength import ErrorTable, Row, Share, Strength, exact, sampled
from rookery.games import DRAW, LOSS, ONGOING, WIN, Game, States, load_game

POSITIONS_IN_PART = 512
Scores = Sequence[int | None]
Count = Callable[[int, int], Share]
PartResult = list[Any]
"""What was seen of a player in one part, as JSON takes it."""


class StrengthTest(ABC):
    """Measures players of one game."""

    @property
    @abstractmethod
    def parts(self) -> int:
        """How many looks make a measurement."""

    @abstractmethod
    def look(self, player: Player, part: int) -> PartResult:
        """What the player does in one part."""

    @abstractmethod
    def conclude(self, looks: Sequence[PartResult]) -> Strength:
        """How strong the player is that was seen like this, part by part."""

    def measure(self, player: Player) -> Strength:
        """How strong the player is."""
        return self.conclude([self.look(player, part) for part in range(self.parts)])


def strength_test_for(game: Game) -> StrengthTest:
    """The sharpest ruler there is for `game`."""
    if game.name == "connect4":
        return PositionTest(load_positions())
    if game.name == "tictactoe":
        return ExhaustiveTest(game, ExhaustiveSolver(game))
    return MatchTest(game)


@dataclass(frozen=True)
class PositionTest(StrengthTest):
    """Connect Four: mistakes in positions whose scores are known."""

    positions: tuple[SolvedPosition, ...]

    @property
    def parts(self) -> int:
        """As many as the positions fill."""
        return ceil(len(self.positions) / POSITIONS_IN_PART)

    def look(self, player: Player, part: int) -> PartResult:
        """The moves chosen in some of the positions."""
        start = part * POSITIONS_IN_PART
        return moves_in(player, self.positions[start : start + POSITIONS_IN_PART])

    def conclude(self, looks: Sequence[PartResult]) -> Strength:
        """Mistakes by group, and in all."""
        table = judge_moves(self.positions, list(chain(*looks)))
        rows = (*table.rows, table.total)
        return Strength(table.total.errors.percent, "moves that lose game value", rows)


@dataclass(frozen=True)
class ExhaustiveTest(StrengthTest):
    """A tiny game: mistakes in every position, and games against every reply."""

    game: Game
    solver: Solver

    @property
    def parts(self) -> int:
        """The positions, and the games."""
        return 2

    def look(self, player: Player, part: int) -> PartResult:
        """The moves chosen in all positions, ply by ply; or the results of all games."""
        if part == 0:
            return moves_everywhere(player, self.game)
        tally = play_every_reply(player, self.game)
        return [tally.wins, tally.draws, tally.losses]

    def conclude(self, looks: Sequence[PartResult]) -> Strength:
        """Mistakes by ply and in all, then the share of the games lost."""
        table = judge_everywhere(self.game, looks[0], solver=self.solver)
        tally = Tally(*looks[1])
        lost = Row("lost to any reply", tally.games, exact(tally.losses, tally.games), None)
        rows = (*table.rows, table.total, lost)
        return Strength(table.total.errors.percent, "moves that lose game value", rows)


@dataclass(frozen=True)
class MatchTest(StrengthTest):
    """Any game: points lost to a plain opponent and to a random one, a match each."""

    game: Game
    games: int = 64
    """Games against each opponent."""
    opening_plies: int = 2
    """Random ones, where the game has no book."""
    seed: int = 0

    @property
    def parts(self) -> int:
        """Those of the first match, then those of the second."""
        return 2 * self._plan.parts

    def look(self, player: Player, part: int) -> PartResult:
        """The games of one part, against an opponent made for it."""
        match, part_of_match = divmod(part, self._plan.parts)
        opponent = self._opponents(part_seed(self.seed, part, side=1))[match]
        openings = self._plan.openings(self.game, part_of_match)
        return [played.to_plain() for played in play_part(self.game, player, opponent, openings)]

    def conclude(self, looks: Sequence[PartResult]) -> Strength:
        """The points lost to minimax:2, then those lost to random."""
        games = [MatchGame.from_plain(plain) for plain in chain(*looks)]
        matches = (games[: self.games], games[self.games :])
        rows = tuple(
            _match_row(report_match("player", opponent.name, played=played))
            for opponent, played in zip(self._opponents(self.seed), matches, strict=True)
        )
        return Strength(rows[0].errors.percent, f"points lost to {rows[0].label}", rows)

    @property
    def _plan(self) -> MatchPlan:
        book = has_book(self.game)
        return MatchPlan(self.games, self.seed, self.opening_plies, book=book)

    def _opponents(self, seed: int) -> tuple[Player, Player]:
        return MinimaxPlayer(self.game, 2, seed=seed), RandomPlayer(self.game, seed)


def measure_positions(player: Player, positions: Sequence[SolvedPosition]) -> ErrorTable:
    """Mistakes of a Connect Four player by group of positions, in the groups' own order."""
    return judge_moves(positions, moves_in(player, positions))


def moves_in(player: Player, positions: Sequence[SolvedPosition]) -> list[int]:
    """What a Connect Four player plays in each of the positions."""
    connect4 = load_game("connect4")
    states = connect4.blank_states(len(positions))
    for index, position in enumerate(positions):
        states[index] = connect4.position(position.moves)
    moves: list[int] = ask(player, states, game=connect4).tolist()
    return moves


def judge_moves(positions: Sequence[SolvedPosition], moves: Sequence[int]) -> ErrorTable:
    """Mistakes by group of positions, one move each."""
    groups: dict[str, list[Judgement]] = defaultdict(list)
    for position, action in zip(positions, moves, strict=True):
        groups[position.group].append(judge_move(position.scores, action))
    return _table(groups, count=sampled)


def measure_exhaustively(player: Player, game: Game, *, solver: Solver) -> ErrorTable:
    """Mistakes by ply in every position that can be reached; for tiny games."""
    return judge_everywhere(game, moves_everywhere(player, game), solver=solver)


def moves_everywhere(player: Player, game: Game) -> list[list[int]]:
    """What the player plays in every position that can be reached, ply by ply."""
    return [ask(player, states, game=game).tolist() for states in reachable(game)]


def judge_everywhere(game: Game, moves: Sequence[list[int]], *, solver: Solver) -> ErrorTable:
    """Mistakes by ply of one move in every position that can be reached."""
    groups: dict[str, list[Judgement]] = {}
    for ply, (states, chosen) in enumerate(zip(reachable(game), moves, strict=True)):
        pairs = zip(states, chosen, strict=True)
        groups[f"ply {ply}"] = [judge_move(solver.scores(state), action) for state, action in pairs]
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


def judge_move(scores: Scores, action: int) -> Judgement:
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
