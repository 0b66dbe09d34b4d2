"""Matches: pairs, colours, results and parts."""

import json

import numpy as np
import pytest
from numpy.typing import NDArray

from matches import play_match
from rookery.arena import (
    MatchGame,
    MatchPlan,
    MatchReport,
    MinimaxPlayer,
    Player,
    RandomPlayer,
    part_seed,
    play_part,
)
from rookery.arena.openings import random_openings
from rookery.base import ConfigError, IllegalPosition
from rookery.games import DRAW, LOSS, WIN, Game, States, load_game

CONNECT4 = load_game("connect4")
PLAN = MatchPlan(games=80, seed=3, opening_plies=2)


class Lowest:
    """Plays the lowest legal action, so every game from an opening is the same."""

    name = "lowest"

    def __init__(self, game: Game) -> None:
        self.game = game

    def choose(self, states: States, histories: object = None) -> NDArray[np.int32]:
        return np.array([self.game.legal_actions(state)[0] for state in states], np.int32)


class Highest(Lowest):
    """Plays the highest legal action."""

    name = "highest"

    def choose(self, states: States, histories: object = None) -> NDArray[np.int32]:
        return np.array([self.game.legal_actions(state)[-1] for state in states], np.int32)


class AlwaysZero:
    """Plays action 0, legal or not."""

    name = "zero"

    def choose(self, states: States, histories: object = None) -> NDArray[np.int32]:
        return np.zeros(len(states), np.int32)


def match(a: Player, b: Player, *, games: int = 40, plies: int = 2) -> MatchReport:
    return play_match(CONNECT4, a, b, games=games, seed=3, opening_plies=plies)


def test_a_player_against_itself_is_exactly_even() -> None:
    report = match(Lowest(CONNECT4), Lowest(CONNECT4))
    assert report.difference.elo == pytest.approx(0)
    assert report.total.wins == report.total.losses
    assert (report.first.wins, report.first.losses) == (report.second.losses, report.second.wins)
    assert report.distinct_games == 20  # both games of a pair are the same


def test_pairs_share_their_opening_and_swap_colours() -> None:
    report = match(RandomPlayer(CONNECT4, 1), RandomPlayer(CONNECT4, 2), plies=3)
    for one, other in zip(report.games[::2], report.games[1::2], strict=True):
        assert one.opening == other.opening
        assert (one.a_first, other.a_first) == (True, False)
    assert len({one.opening for one in report.games}) == 20


@pytest.mark.parametrize("plies", [0, 1, 2])
def test_games_replay_to_the_result_they_claim(plies: int) -> None:
    report = match(MinimaxPlayer(CONNECT4, 2, seed=1), RandomPlayer(CONNECT4, 2), plies=plies)
    for played in report.games:
        line = played.opening + played.moves
        end = CONNECT4.rules.outcome(CONNECT4.replay(line))
        assert end in (LOSS, DRAW)
        a_made_the_last_move = (len(line) % 2 == 1) == played.a_first
        assert played.result == (DRAW if end == DRAW else WIN if a_made_the_last_move else LOSS)


def test_results_are_counted_by_colour() -> None:
    report = match(MinimaxPlayer(CONNECT4, 3, seed=1), RandomPlayer(CONNECT4, 2))
    assert (report.a, report.b) == ("minimax:3", "random")
    assert report.total.games == 40 == len(report.games)
    assert report.first.games == report.second.games == 20
    assert report.first.wins + report.second.wins == report.total.wins
    assert report.total.wins > 35
    assert report.difference.low > 200
    assert report.difference.score == (report.total.wins + report.total.draws / 2) / 40


def test_swapping_the_players_negates_the_difference() -> None:
    there = match(Lowest(CONNECT4), Highest(CONNECT4))
    back = match(Highest(CONNECT4), Lowest(CONNECT4))
    assert there.first.wins == back.second.losses
    assert there.difference.elo == pytest.approx(-back.difference.elo)


def test_repeated_games_count_as_one_distinct_game() -> None:
    report = match(Lowest(CONNECT4), Lowest(CONNECT4), plies=0)
    assert report.distinct_games == 1
    assert len(report.games) == 40


def test_the_same_seeds_give_the_same_match() -> None:
    def play() -> MatchReport:
        return match(MinimaxPlayer(CONNECT4, 1, seed=4), RandomPlayer(CONNECT4, 5))

    assert play() == play()


@pytest.mark.parametrize("games", [0, 1, 7, -2])
def test_the_number_of_games_must_be_even(games: int) -> None:
    with pytest.raises(ConfigError, match="in pairs"):
        match(AlwaysZero(), AlwaysZero(), games=games)


def test_an_illegal_move_names_the_player() -> None:
    with pytest.raises(IllegalPosition, match="zero chose action 0 in connect4"):
        match(AlwaysZero(), Lowest(CONNECT4))


def test_a_wrong_number_of_moves_names_the_player() -> None:
    class Short(AlwaysZero):
        def choose(self, states: States, histories: object = None) -> NDArray[np.int32]:
            return np.zeros(1, np.int32)

    with pytest.raises(IllegalPosition, match="zero returned"):
        match(Short(), Lowest(CONNECT4))


def part(number: int) -> list[MatchGame]:
    """Play one part with players created for it."""
    a = MinimaxPlayer(CONNECT4, 1, seed=part_seed(PLAN.seed, number, side=0))
    b = RandomPlayer(CONNECT4, part_seed(PLAN.seed, number, side=1))
    return play_part(CONNECT4, a, b, PLAN.openings(CONNECT4, number))


@pytest.mark.parametrize(
    ("games", "sizes"),
    [(2, [1]), (32, [16]), (34, [16, 1]), (100, [16, 16, 16, 2]), (1000, [32] * 15 + [20])],
)
def test_parts_hold_all_openings_in_order(games: int, sizes: list[int]) -> None:
    plan = MatchPlan(games, seed=1, opening_plies=3)
    parts = [plan.openings(CONNECT4, number) for number in range(plan.parts)]
    assert [len(openings) for openings in parts] == sizes
    expected = random_openings(CONNECT4, games // 2, plies=3, seed=1)
    assert [opening for openings in parts for opening in openings] == expected


def test_parts_are_the_same_in_any_order() -> None:
    numbers = list(range(PLAN.parts))
    forwards = {number: part(number) for number in numbers}
    backwards = {number: part(number) for number in reversed(numbers)}
    assert forwards == backwards
    assert len(numbers) == 3 and len({tuple(games) for games in forwards.values()}) == 3


def test_games_in_parts_are_the_same_as_in_one_lockstep() -> None:
    a, b = Lowest(CONNECT4), Highest(CONNECT4)
    parts = [play_part(CONNECT4, a, b, PLAN.openings(CONNECT4, n)) for n in range(PLAN.parts)]
    openings = random_openings(CONNECT4, 40, plies=2, seed=3)
    assert play_part(CONNECT4, a, b, openings) == [each for part in parts for each in part]


def test_games_survive_a_round_trip_through_json() -> None:
    played = part(0)
    plain = json.loads(json.dumps([each.to_plain() for each in played]))
    assert [MatchGame.from_plain(each) for each in plain] == played


def test_every_player_of_every_part_has_its_own_seed() -> None:
    seeds = {
        part_seed(seed, number, side=side)
        for seed in (1, 2)
        for number in range(50)
        for side in (0, 1)
    }
    assert len(seeds) == 2 * 50 * 2
