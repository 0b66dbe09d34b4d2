"""A move that wins at once is found in every search that does not explore, however small."""

from typing import Any

import numpy as np
import pytest

import toy
from rookery.games import ONGOING, WIN, Board, Game, load_game
from rookery.search import AnalysisSearch, CpuSearch, SearchConfig
from rookery.search.tree import EDGES_PER_NODE

MOST_MOVES = "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1"
WINS = {
    "chess": (MOST_MOVES, {"c1b3", "d2b2", "a3a2", "a3b2", "c4a2", "e5b2", "b6b2"}),
    "connect4": ("112233", {"4"}),
    "tictactoe": ("1425", {"3"}),
}
METHODS = ("gumbel", "puct")


def new_search(rules: Game, positions: list[str], simulations: int, **options: Any) -> CpuSearch:
    """A search of `positions` by a net that thinks least of winning moves."""
    _, wins = WINS[rules.name]
    logits = np.zeros(rules.num_actions, np.float32)
    state = rules.position(WINS[rules.name][0])
    logits[[rules.read_move(state, move) for move in wins]] = -20.0

    def evaluate(planes: Any) -> Any:
        count = len(planes)
        return np.tile(logits, (count, 1)), np.full((count, 3), 1 / 3, np.float32)

    settings = {"explore": False, "seed": 0, "max_simulations": simulations} | options
    config = SearchConfig(method=settings.pop("method"), prove=settings.pop("prove", True))
    search = CpuSearch(rules, evaluate, config=config, num_games=len(positions), **settings)
    search.roots[:] = np.array([rules.position(position) for position in positions])
    return search


@pytest.mark.parametrize("simulations", [1, 2, 100])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", WINS)
def test_a_batched_search_plays_and_proves_it(name: str, method: str, simulations: int) -> None:
    rules, (position, wins) = load_game(name), WINS[name]
    found = new_search(rules, [position], simulations, method=method).run(simulations)
    state = rules.position(position)
    assert rules.write_move(state, int(found.actions[0])) in wins
    assert found.values[0].tolist() == [1.0, 0.0]
    winning = [rules.read_move(state, move) for move in wins]
    assert found.policy[0, winning].sum() == pytest.approx(1.0)


@pytest.mark.parametrize("simulations", [1, 100])
@pytest.mark.parametrize("name", WINS)
def test_a_search_of_one_position_plays_and_proves_it(name: str, simulations: int) -> None:
    rules, (position, wins) = load_game(name), WINS[name]
    search = AnalysisSearch(
        rules, toy.hashed(rules.num_actions), config=SearchConfig(), max_nodes=200, leaves=4
    )
    board = Board(rules, rules.position(position))
    search.place(board.state, board.repetitions)
    search.grow(simulations)
    line = search.lines()[0]
    assert rules.write_move(board.state, line.actions[0]) in wins
    assert (line.proof, line.value, line.plies, len(line.actions)) == (WIN, 1.0, 1, 1)
    assert search.is_finished


def test_a_root_that_moves_on_to_a_win_is_proved_before_it_grows() -> None:
    rules = load_game("connect4")
    search = AnalysisSearch(rules, toy.uniform(7), config=SearchConfig(), max_nodes=500, leaves=4)
    board = Board(rules, rules.position("1122"))
    search.place(board.state, board.repetitions)
    search.grow(60)
    moves = [2, 6]
    for action in moves:
        board.play(action)
    search.place(board.state, board.repetitions, moves=moves)
    assert search.is_finished and search.growth.simulations == 0
    assert search.lines()[0].actions == (3,)


def test_a_win_that_may_not_be_looked_at_proves_nothing() -> None:
    rules = load_game("connect4")
    search = AnalysisSearch(rules, toy.uniform(7), config=SearchConfig(), max_nodes=500, leaves=1)
    board = Board(rules, rules.position("112233"))
    search.place(board.state, board.repetitions, only=[0, 6])
    assert not search.is_finished and search.grow(20) > 0
    assert {line.actions[0] for line in search.lines(9)} == {0, 6}
    search.place(board.state, board.repetitions, only=[3, 6])
    assert search.is_finished and search.lines()[0].actions == (3,)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("options", [{"explore": True}, {"prove": False}], ids=str)
def test_searches_that_explore_or_do_not_prove_simulate_as_ever(method: str, options: Any) -> None:
    search = new_search(load_game("connect4"), ["112233"], 8, method=method, **options)
    search.begin(8)
    assert search.tree.nodes[0, 0].proof == ONGOING
    assert search.finish(8).visits.sum() > 0


def test_a_proved_loss_is_not_played_though_nothing_else_was_visited() -> None:
    rules = load_game("connect4")
    search = new_search(rules, ["1122335"], 1, method="puct", explore=True)
    search.begin(1)
    search.tree.edges[0, 0].proof = -WIN
    search.tree.searches[0].simulations_left = 0
    assert search.finish(1).actions[0] != search.tree.edges[0, 0].action


@pytest.mark.parametrize("simulations", [0, 1, 2, 3, 16])
def test_the_edges_of_every_root_fit(simulations: int) -> None:
    rules = load_game("chess")
    search = new_search(rules, [MOST_MOVES], simulations, method="gumbel")
    assert search.tree.edges.shape[1] >= rules.max_legal + simulations * EDGES_PER_NODE


@pytest.mark.parametrize("method", METHODS)
def test_a_root_of_218_moves_leaves_the_next_game_alone(method: str) -> None:
    rules, start = load_game("chess"), ""
    alone = new_search(rules, [start], 2, method=method, explore=True)
    both = new_search(rules, [MOST_MOVES, start], 2, method=method, explore=True)
    alone.tree.streams[0] = both.tree.streams[1]
    expected, found = alone.run(2), both.run(2)
    assert both.tree.nodes[0, 0].num_edges == rules.max_legal
    assert found.visits[1].tolist() == expected.visits[0].tolist()
    assert found.policy[1].tobytes() == expected.policy[0].tobytes()
