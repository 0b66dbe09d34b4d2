"""One position searched by waves: against the plain search, against truth, and over a game."""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import toy
from rookery.games import DRAW, LOSS, ONGOING, WIN, Board, Game, load_game
from rookery.nets import CpuEvaluator
from rookery.search import AnalysisSearch, CpuSearch, SearchConfig, choose_leaves, nodes_in_memory
from rookery.training import load_shipped

TICTACTOE, CONNECT4, CHESS = load_game("tictactoe"), load_game("connect4"), load_game("chess")
WAVES = (1, 3, 8)


def new_single(rules: Game, position: str = "", *, evaluator: Any = None, **options: Any):
    """A search of `position`, and the game that begins there."""
    settings = {"leaves": 4, "max_nodes": 20_000} | options
    search = AnalysisSearch(
        rules, evaluator or toy.uniform(rules.num_actions), config=SearchConfig(), **settings
    )
    board = Board(rules, rules.position(position))
    search.place(board.state, board.repetitions)
    return search, board


def play_on(search: AnalysisSearch, board: Board, moves: str) -> list[int]:
    """Make `moves` in the game, and let the search follow."""
    before = len(board.actions)
    for move in moves.split():
        board.play(board.game.read_move(board.state, move))
    made = board.actions[before:]
    search.place(board.state, board.repetitions, moves=made)
    return made


def check_counts(search: AnalysisSearch) -> None:
    """Every edge that is not proved has as many visits as what lies behind it, and one more."""
    tree = search.tree
    used = tree.searches[0]
    for edge in tree.edges[0, : used.edges_used]:
        assert abs(edge.value_sum) <= edge.visits + 1e-3
        if edge.child >= 0 and tree.nodes[0, edge.child].proof == ONGOING:
            node = tree.nodes[0, edge.child]
            behind = tree.edges[0, node.first_edge : node.first_edge + node.num_edges]
            assert behind["visits"].sum() + 1 == edge.visits


def root_visits(search: AnalysisSearch) -> int:
    root = search.tree.nodes[0, 0]
    return int(search.tree.edges[0, root.first_edge :][: root.num_edges]["visits"].sum())


def test_a_leaf_a_wave_is_the_plain_search() -> None:
    evaluator = toy.hashed(7)
    search, board = new_single(CONNECT4, "4453", evaluator=evaluator, leaves=1)
    search.grow(150)
    plain = CpuSearch(
        CONNECT4,
        evaluator,
        config=SearchConfig(method="puct"),
        num_games=1,
        max_simulations=150,
        explore=False,
        seed=1,
    )
    plain.roots[0] = board.state
    visits = plain.run(150).visits[0]
    found = {line.actions[0]: line.visits for line in search.lines(7)}
    assert [found[action] for action in range(7)] == visits.tolist()


@pytest.mark.parametrize("leaves", WAVES)
@pytest.mark.parametrize("rules", [TICTACTOE, CONNECT4], ids=lambda rules: rules.name)
def test_what_was_lent_is_taken_back(rules: Game, leaves: int) -> None:
    search, _ = new_single(rules, evaluator=toy.hashed(rules.num_actions), leaves=leaves)
    made = search.grow(300)
    assert made == search.growth.simulations == root_visits(search) and 250 <= made <= 300
    check_counts(search)


def test_waves_are_filled_where_there_is_more_than_one_move() -> None:
    sizes: list[int] = []
    answer = toy.uniform(7)

    def spy(planes: Any) -> Any:
        sizes.append(len(planes))
        return answer(planes)

    search, _ = new_single(CONNECT4, evaluator=spy, leaves=8)
    search.grow(800)
    assert max(sizes) == 8 and np.mean(sizes) > 4


@pytest.mark.parametrize("leaves", WAVES)
def test_a_small_game_is_solved(leaves: int) -> None:
    for position, value in (("12597", LOSS), ("1523746", DRAW), ("1425", WIN)):
        search, _ = new_single(TICTACTOE, position, leaves=leaves)
        search.grow(2000)
        assert search.is_finished and search.lines()[0].proof == value


MATES = {
    "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1": (1, "d1d8"),
    "kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1": (2, "a1a6"),
    "1k6/8/8/1K6/8/8/8/7R w - - 0 1": (3, None),
    "r5rk/5p1p/5R2/4B3/8/8/7P/7K w - - 0 1": (3, None),
}


@pytest.mark.parametrize("position", MATES)
def test_mates_are_found_and_counted(position: str) -> None:
    moves, best = MATES[position]
    search, board = new_single(CHESS, position, leaves=8, max_nodes=50_000)
    search.grow(45_000)
    line = search.lines()[0]
    assert line.proof == WIN and line.value == 1.0 and line.wdl == (1.0, 0.0, 0.0)
    assert moves <= (line.plies + 1) // 2 <= moves + 3
    if best:
        assert CHESS.write_move(board.state, line.actions[0]) == best
        assert line.plies == 2 * moves - 1 == len(line.actions)


def test_the_side_to_be_mated_sees_it() -> None:
    search, _ = new_single(CHESS, "7k/8/6K1/8/8/8/8/R7 b - - 0 1")
    search.grow(500)
    line = search.lines()[0]
    assert (line.proof, line.plies, line.value) == (LOSS, 2, -1.0)


def test_fifty_moves_are_a_draw() -> None:
    search, _ = new_single(CHESS, "8/8/4k3/8/8/4K3/8/R7 w - - 99 80")
    search.grow(500)
    line = search.lines()[0]
    assert line.proof == DRAW and line.wdl == (0.0, 1.0, 0.0)


def test_stalemate_is_a_draw() -> None:
    search, board = new_single(CHESS, "7k/8/6K1/5Q2/8/8/8/8 w - - 0 1")
    search.grow(400)
    written = {CHESS.write_move(board.state, line.actions[0]): line for line in search.lines(99)}
    assert written["f5f7"].proof == DRAW and search.lines()[0].proof == WIN


def test_the_third_repetition_is_a_draw() -> None:
    search, board = new_single(CHESS)
    play_on(search, board, "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1")
    search.grow(200)
    back = CHESS.read_move(board.state, "f6g8")
    line = next(line for line in search.lines(99) if line.actions[0] == back)
    assert line.proof == DRAW and line.value == 0.0 and line.actions == (back,)


def made_from(board: Board, moves: Sequence[str]) -> list[int]:
    """The actions of `moves` from the present position on."""
    state, actions = board.state.copy(), []
    for move in moves:
        actions.append(board.game.read_move(state, move))
        board.game.rules.play(state, actions[-1])
    return actions


def find_edge(search: AnalysisSearch, actions: Sequence[int]) -> Any:
    """The last edge on the way of `actions` from the root."""
    tree, node, found = search.tree, 0, None
    for action in actions:
        record = tree.nodes[0, node]
        edges = range(record.first_edge, record.first_edge + record.num_edges)
        found = next(tree.edges[0, edge] for edge in edges if tree.edges[0, edge].action == action)
        node = found.child
    return found


def knights_only(rules: Game, moves: Sequence[str]) -> Any:
    """Nearly sure that both sides move their knights out and home again."""
    logits = np.zeros(rules.num_actions, np.float32)
    logits[made_from(Board(rules), moves)] = 9.0

    def evaluate(planes: Any) -> Any:
        return np.tile(logits, (len(planes), 1)), np.full((len(planes), 3), 1 / 3, np.float32)

    return evaluate


def test_what_came_back_in_the_search_is_looked_at_again_once_it_stands_on_the_board() -> None:
    moves = ["g1f3", "g8f6", "f3g1", "f6g8"]
    search, board = new_single(CHESS, evaluator=knights_only(CHESS, moves))
    search.grow(300)
    assert find_edge(search, made_from(board, moves)).proof == DRAW
    play_on(search, board, "g1f3 g8f6")
    back = find_edge(search, made_from(board, ["f3g1", "f6g8"]))
    assert (back.proof, back.child) == (ONGOING, -1) and back.visits > 0
    assert search.grow(300) == 300
    back = find_edge(search, made_from(board, ["f3g1", "f6g8"]))
    assert back.proof == ONGOING and search.tree.states[0, back.child].repeats == 1


@pytest.mark.parametrize("rules", [CONNECT4, CHESS], ids=lambda rules: rules.name)
def test_moves_made_keep_what_was_found_below_them(rules: Game) -> None:
    search, board = new_single(rules, evaluator=toy.hashed(rules.num_actions))
    search.grow(600)
    line = search.lines()[0]
    assert len(line.actions) > 3
    for action in line.actions[:2]:
        board.play(action)
    search.place(board.state, board.repetitions, moves=line.actions[:2])
    kept = root_visits(search)
    assert search.growth.simulations == 0 and kept > 5
    assert search.lines()[0].actions == line.actions[2:]
    check_counts(search)
    assert search.grow(200) == 200 and root_visits(search) == kept + 200
    check_counts(search)


def test_moves_nobody_looked_at_begin_anew() -> None:
    search, board = new_single(CONNECT4)
    play_on(search, board, "4 4 4 4")
    assert root_visits(search) == 0
    search.grow(50)
    assert root_visits(search) == 50


def test_only_some_moves_may_be_looked_at() -> None:
    search, board = new_single(CONNECT4)
    search.place(board.state, board.repetitions, only=[2, 6])
    search.grow(100)
    assert {line.actions[0] for line in search.lines(9)} == {2, 6} and root_visits(search) == 100
    search.place(board.state, board.repetitions, moves=[])
    assert len(search.lines(9)) == 7


def test_a_full_arena_ends_the_search() -> None:
    search, _ = new_single(CHESS, max_nodes=60, leaves=8)
    made = search.grow(5000)
    assert search.is_finished and made < 100 and search.growth.fullness > 0.8
    assert search.tree.searches[0].edges_used <= search.tree.edges.shape[1]
    assert search.lines()[0].visits > 0 and search.grow(100) == 0


def test_a_search_stops_after_the_wave_when_asked() -> None:
    search, _ = new_single(CONNECT4, leaves=4)
    assert search.grow(1000, lambda: True) <= 4
    assert search.grow(10) == 10


def test_as_few_leaves_as_keep_the_evaluator_busy() -> None:
    answer = toy.uniform(7)

    def patient(planes: Any) -> Any:
        time.sleep(0.003)
        return answer(planes)

    def laborious(planes: Any) -> Any:
        time.sleep(0.003 * len(planes))
        return answer(planes)

    assert choose_leaves(CONNECT4, patient) >= 16
    assert choose_leaves(CONNECT4, laborious) == 1


def test_an_arena_has_the_size_that_is_asked_for() -> None:
    small, large = nodes_in_memory(CHESS, 64), nodes_in_memory(CHESS, 128)
    assert 1.8 < large / small < 2.2 and small > 10_000


def test_the_shipped_net_finds_what_the_plain_search_finds() -> None:
    net = load_shipped(CONNECT4).build()
    evaluator = CpuEvaluator(net, CONNECT4.planes_shape, method="float32")
    search, board = new_single(CONNECT4, "4455", evaluator=evaluator)
    search.grow(64)
    plain = CpuSearch(
        CONNECT4,
        evaluator,
        config=SearchConfig(),
        num_games=1,
        max_simulations=64,
        explore=False,
        seed=1,
    )
    plain.roots[0] = board.state
    assert search.lines()[0].actions[0] == plain.run(64).actions[0]
