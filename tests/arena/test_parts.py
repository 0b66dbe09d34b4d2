"""Matches and measurements in parts: whoever looks at a part, and when, sees the same."""

import json
import random
from collections.abc import Callable
from dataclasses import replace

import pytest

import toy
from rookery.arena import (
    ExhaustiveSolver,
    MatchGame,
    MatchPlan,
    MinimaxPlayer,
    Player,
    RandomPlayer,
    SearchPlayer,
    StrengthTest,
    load_positions,
    part_seed,
    play_match,
    play_part,
    report_match,
)
from rookery.arena.match import draw_openings
from rookery.arena.strength_test import ExhaustiveTest, MatchTest, PositionTest
from rookery.games import Game, load_game
from rookery.search import SearchConfig

TICTACTOE = load_game("tictactoe")
CONNECT4 = load_game("connect4")
PLAN = MatchPlan(games=80, seed=3, opening_plies=2)


def bare_net(rules: Game, seed: int = 0) -> SearchPlayer:
    """A player that always answers a position alike."""
    evaluator = toy.hashed(rules.num_actions)
    config = SearchConfig()
    return SearchPlayer(rules, evaluator, config=config, simulations=0, seed=seed, name="net")


def part(number: int) -> list[MatchGame]:
    """One part, by players made for it."""
    a = MinimaxPlayer(CONNECT4, 1, seed=part_seed(PLAN.seed, number, side=0))
    b = RandomPlayer(CONNECT4, part_seed(PLAN.seed, number, side=1))
    return play_part(CONNECT4, a, b, PLAN.openings(CONNECT4, number))


@pytest.mark.parametrize(
    ("games", "sizes"),
    [(2, [1]), (32, [16]), (34, [16, 1]), (100, [16, 16, 16, 2]), (1000, [32] * 15 + [20])],
)
def test_parts_hold_all_openings_in_turn(games: int, sizes: list[int]) -> None:
    plan = MatchPlan(games, seed=1, opening_plies=3)
    parts = [plan.openings(CONNECT4, number) for number in range(plan.parts)]
    assert [len(openings) for openings in parts] == sizes
    whole = draw_openings(CONNECT4, games // 2, plies=3, seed=1)
    assert [opening for openings in parts for opening in openings] == whole


def test_parts_are_the_same_in_any_order() -> None:
    numbers = list(range(PLAN.parts))
    forth = {number: part(number) for number in numbers}
    back = {number: part(number) for number in reversed(numbers)}
    assert forth == back
    assert len(numbers) == 3 and len({tuple(games) for games in forth.values()}) == 3


def test_parts_make_the_same_match_as_the_whole() -> None:
    a, b = bare_net(CONNECT4), MinimaxPlayer(CONNECT4, 1, seed=0)
    whole = play_match(CONNECT4, a, b, games=80, seed=3, opening_plies=2)
    b = MinimaxPlayer(CONNECT4, 1, seed=0)  # goes on from part to part, as in the whole
    parts = [
        play_part(CONNECT4, bare_net(CONNECT4, seed=number), b, PLAN.openings(CONNECT4, number))
        for number in range(PLAN.parts)
    ]
    assert report_match("net", "minimax:1", played=[each for part in parts for each in part]) == (
        whole
    )


def test_games_travel_as_json() -> None:
    played = part(0)
    plain = json.loads(json.dumps([each.to_plain() for each in played]))
    assert [MatchGame.from_plain(each) for each in plain] == played


def test_every_player_of_every_part_has_a_seed_of_its_own() -> None:
    seeds = {
        part_seed(seed, number, side=side)
        for seed in (1, 2)
        for number in range(50)
        for side in (0, 1)
    }
    assert len(seeds) == 2 * 50 * 2


RULERS: list[tuple[StrengthTest, Callable[[], Player]]] = [
    (PositionTest(load_positions()[:1100]), lambda: bare_net(CONNECT4)),
    (ExhaustiveTest(TICTACTOE, ExhaustiveSolver(TICTACTOE)), lambda: bare_net(TICTACTOE)),
    (MatchTest(CONNECT4), lambda: bare_net(CONNECT4)),
]


@pytest.mark.parametrize(("ruler", "make"), RULERS, ids=lambda value: type(value).__name__)
def test_looks_in_any_order_lead_to_one_conclusion(
    ruler: StrengthTest, make: Callable[[], Player]
) -> None:
    numbers = list(range(ruler.parts))
    random.Random(1).shuffle(numbers)
    looks = {number: json.dumps(ruler.look(make(), number)) for number in numbers}
    assert len(numbers) > 1 and len(set(looks.values())) == len(numbers)
    concluded = ruler.conclude([json.loads(looks[number]) for number in range(ruler.parts)])
    assert concluded == ruler.measure(make())
    assert 0 < concluded.errors < 100


def test_a_ruler_meets_each_opponent_in_every_opening() -> None:
    ruler = MatchTest(replace(TICTACTOE, name="unsolved"), games=40, opening_plies=1)
    looks = [ruler.look(bare_net(TICTACTOE), number) for number in range(ruler.parts)]
    assert [len(look) for look in looks] == [32, 8, 32, 8]
    openings = [[MatchGame.from_plain(each).opening for each in look] for look in looks]
    assert openings[:2] == openings[2:] and openings[0] != openings[1]
