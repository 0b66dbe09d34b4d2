"""Every search without exploration plays a winning move, even with one simulation."""

from typing import Any

import numpy as np
import pytest

import toy
from rookery.games import LOSS, ONGOING, WIN, Board, Game, load_game
from rookery.search import AnalysisSearch, CpuSearch, SearchConfig
from rookery.search.tree import EDGES_PER_NODE

MOST_MOVES = "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1"
WINS = {
    "chess": (MOST_MOVES, {"c1b3", "d2b2", "a3a2", "a3b2", "c4a2", "e5b2", "b6b2"}),
    "connect4": ("112233", {"4"}),
    "tictactoe": ("1425", {"3"}),
}
ALLOWED = {
    "chess": ("rnbqkbnr/pppp1ppp/8/4p3/5P2/8/PPPPP1PP/RNBQKBNR w KQkq - 0 2", ["g2g4"]),
    "connect4": ("11223", ["1", "2", "3", "5", "6", "7"]),
    "tictactoe": ("142", ["5", "6", "7", "8", "9"]),
}
"""Positions, and the moves that allow a win in one."""
METHODS = ("gumbel", "puct")


def new_search(rules: Game, positions: list[str], simulations: int, **options: Any) -> CpuSearch:
    """Return a search of `positions` with the lowest priors for winning moves."""
    _, wins = WINS[rules.name]
    logits = np.zeros(rules.num_actions, np.float32)
    state = rules.position(WINS[rules.name][0])
    logits[[rules.read_move(state, move) for move in wins]] = -20.0

    def evaluate(planes: Any) -> Any:
        count = len(planes)
        return np.tile(logits, (count, 1)), np.full((count, 3), 1 / 3, np.float32)

    settings = {"explore": False, "seed": 0, "max_simulations": simulations} | options
    chosen = {
        name: settings.pop(name) for name in ("method", "prove", "proof_nodes") if name in settings
    }
    config = SearchConfig(**chosen)
    search = CpuSearch(rules, evaluate, config=config, num_games=len(positions), **settings)
    search.roots[:] = np.array([rules.position(position) for position in positions])
    return search


SLOW = ("connect4", "puct")
"""No other test compiles this search."""


@pytest.mark.parametrize("simulations", [1, 2, 100])
@pytest.mark.parametrize(
    ("name", "method"),
    [
        pytest.param(name, method, marks=[pytest.mark.slow] * ((name, method) == SLOW))
        for name in WINS
        for method in METHODS
    ],
)
def test_a_batched_search_proves_the_win(name: str, method: str, simulations: int) -> None:
    rules, (position, wins) = load_game(name), WINS[name]
    found = new_search(rules, [position], simulations, method=method).run(simulations)
    state = rules.position(position)
    assert rules.write_move(state, int(found.actions[0])) in wins
    assert found.values[0].tolist() == [1.0, 0.0]
    winning = [rules.read_move(state, move) for move in wins]
    assert found.policy[0, winning].sum() == pytest.approx(1.0)


@pytest.mark.parametrize("simulations", [1, 100])
@pytest.mark.parametrize("name", WINS)
def test_a_search_of_one_position_proves_the_win(name: str, simulations: int) -> None:
    rules, (position, wins) = load_game(name), WINS[name]
    search = AnalysisSearch(
        rules, toy.hashed(rules.num_actions), config=SearchConfig(), max_nodes=200, leaves=4
    )
    board = Board(rules, rules.position(position))
    search.set_position(board.state, board.repetitions)
    search.grow(simulations)
    variation = search.variations()[0]
    assert rules.write_move(board.state, variation.actions[0]) in wins
    assert (variation.proof, variation.value, variation.plies, len(variation.actions)) == (
        WIN,
        1.0,
        1,
        1,
    )
    assert search.is_finished


def test_a_reused_root_with_a_win_is_proved_without_simulations() -> None:
    rules = load_game("connect4")
    search = AnalysisSearch(rules, toy.uniform(7), config=SearchConfig(), max_nodes=500, leaves=4)
    board = Board(rules, rules.position("1122"))
    search.set_position(board.state, board.repetitions)
    search.grow(60)
    moves = [2, 6]
    for action in moves:
        board.play(action)
    assert [each.prior for each in search.variations(7, path=moves)] == [1]  # proved as a leaf
    search.set_position(board.state, board.repetitions, moves=moves)
    assert search.is_finished and search.progress.simulations == 0
    assert search.variations()[0].actions == (3,)
    assert len(search.variations(7)) == len(rules.legal_actions(board.state))


def test_an_excluded_winning_move_proves_nothing() -> None:
    rules = load_game("connect4")
    search = AnalysisSearch(rules, toy.uniform(7), config=SearchConfig(), max_nodes=500, leaves=1)
    board = Board(rules, rules.position("112233"))
    search.set_position(board.state, board.repetitions, only=[0, 6])
    assert not search.is_finished and search.grow(20) > 0
    assert {variation.actions[0] for variation in search.variations(9)} == {0, 6}
    search.set_position(board.state, board.repetitions, only=[3, 6])
    assert search.is_finished and search.variations()[0].actions == (3,)


@pytest.mark.parametrize("name", ALLOWED)
def test_a_move_that_allows_a_win_is_lost_after_one_visit(name: str) -> None:
    rules, (position, proved) = load_game(name), ALLOWED[name]
    evaluator, config = toy.uniform(rules.num_actions), SearchConfig()
    search = AnalysisSearch(rules, evaluator, config=config, max_nodes=1000, leaves=1)
    board = Board(rules, rules.position(position))
    search.set_position(board.state, board.repetitions)
    search.grow(800)
    lost = [each for each in search.variations(99) if each.proof == LOSS and each.plies == 2]
    moves = sorted(rules.write_move(board.state, each.actions[0]) for each in lost)
    assert moves == proved
    assert all(each.visits == 1 and len(each.actions) == 2 for each in lost)


@pytest.mark.parametrize("explore", [False, True])
def test_a_batched_search_finds_wins_in_new_positions(explore: bool) -> None:
    """All moves but one allow a win: each is proved to lose when it is visited first."""
    rules, (position, proved) = load_game("connect4"), ALLOWED["connect4"]
    lost = [rules.read_move(rules.position(position), move) for move in proved]
    for proof_nodes in (0, 7):
        options = {"method": "gumbel", "explore": explore, "proof_nodes": proof_nodes}
        search = new_search(rules, [position, position], 14, **options)
        search.run(14)
        edges = search.tree.edges[1, : search.tree.nodes[1, 0].num_edges]
        visited = edges[(edges["visits"] == 1) & np.isin(edges["action"], lost)]
        assert len(visited) > 0
        assert all((visited["proof"] == LOSS) == (proof_nodes > 0))


@pytest.mark.parametrize("name", ALLOWED)
def test_positions_with_a_winning_move_are_not_evaluated(name: str) -> None:
    rules, (position, _) = load_game(name), ALLOWED[name]
    evaluations = []
    for proof_nodes in (0, 7):
        search = AnalysisSearch(
            rules,
            toy.uniform(rules.num_actions),
            config=SearchConfig(),
            max_nodes=1000,
            leaves=1,
            proof_nodes=proof_nodes,
        )
        board = Board(rules, rules.position(position))
        search.set_position(board.state, board.repetitions)
        search.grow(250)
        evaluations.append(search.progress.evaluations)
    assert evaluations[1] < evaluations[0]


def test_wins_are_not_looked_for_without_proofs() -> None:
    assert not SearchConfig(prove=False, proof_nodes=3).proves_leaves


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("options", [{"explore": True}, {"prove": False}], ids=str)
def test_searches_without_proofs_run_their_simulations(method: str, options: Any) -> None:
    search = new_search(load_game("connect4"), ["112233"], 8, method=method, **options)
    search.begin(8)
    assert search.tree.nodes[0, 0].proof == ONGOING
    assert search.finish(8).visits.sum() > 0


def test_a_proved_loss_is_not_played_even_if_no_other_move_was_visited() -> None:
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
def test_a_root_with_218_moves_does_not_overwrite_the_next_game(method: str) -> None:
    rules, start = load_game("chess"), ""
    alone = new_search(rules, [start], 2, method=method, explore=True)
    both = new_search(rules, [MOST_MOVES, start], 2, method=method, explore=True)
    alone.tree.streams[0] = both.tree.streams[1]
    expected, found = alone.run(2), both.run(2)
    assert both.tree.nodes[0, 0].num_edges == rules.max_legal
    assert found.visits[1].tolist() == expected.visits[0].tolist()
    assert found.policy[1].tobytes() == expected.policy[0].tobytes()
