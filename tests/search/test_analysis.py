"""The search of one position: compared with the batched search, known results, whole games."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import toy
from fake_time import FakeTime
from rookery.games import DRAW, LOSS, ONGOING, WIN, Board, Game, load_game
from rookery.nets import CpuEvaluator
from rookery.search import AnalysisSearch, CpuSearch, SearchConfig, nodes_in_memory
from rookery.search.analysis import search as analysis
from rookery.training import load_shipped

TICTACTOE, CONNECT4, CHESS = load_game("tictactoe"), load_game("connect4"), load_game("chess")
BATCH_SIZES = (1, 3, 8)


def new_analysis(
    rules: Game, position: str = "", *, evaluator: Any = None, **options: Any
) -> tuple[AnalysisSearch, Board]:
    """Return a search of `position` and a board with it."""
    settings: dict[str, Any] = {
        "config": SearchConfig(),
        "leaves": 4,
        "max_nodes": 20_000,
    } | options
    search = AnalysisSearch(rules, evaluator or toy.uniform(rules.num_actions), **settings)
    board = Board(rules, rules.position(position))
    search.set_position(board.state, board.repetitions)
    return search, board


def play_moves(search: AnalysisSearch, board: Board, moves: str) -> list[int]:
    """Play `moves` on the board, update the search, and return their actions."""
    before = len(board.actions)
    for move in moves.split():
        board.play(board.game.read_move(board.state, move))
    played = board.actions[before:]
    search.set_position(board.state, board.repetitions, moves=played)
    return played


def check_counts(search: AnalysisSearch) -> None:
    """Check that every unproved edge has one visit more than the edges of its child together."""
    tree = search.tree
    used = tree.searches[0]
    for edge in tree.edges[0, : used.edges_used]:
        assert abs(edge.value_sum) <= edge.visits + 1e-3
        if edge.child >= 0 and tree.nodes[0, edge.child].proof == ONGOING:
            node = tree.nodes[0, edge.child]
            below = tree.edges[0, node.first_edge : node.first_edge + node.num_edges]
            assert below["visits"].sum() + 1 == edge.visits


def root_visits(search: AnalysisSearch) -> int:
    root = search.tree.nodes[0, 0]
    return int(search.tree.edges[0, root.first_edge :][: root.num_edges]["visits"].sum())


@pytest.mark.parametrize("proof_nodes", [0, 8, 300])
def test_one_leaf_per_batch_equals_the_batched_search(proof_nodes: int) -> None:
    evaluator, config = toy.hashed(7), SearchConfig(method="puct", proof_nodes=proof_nodes)
    options: dict[str, Any] = {"evaluator": evaluator, "config": config, "proof_nodes": proof_nodes}
    search, board = new_analysis(CONNECT4, "4453", leaves=1, **options)
    search.grow(150)
    batched = CpuSearch(
        CONNECT4,
        evaluator,
        config=config,
        num_games=1,
        max_simulations=150,
        explore=False,
        seed=1,
    )
    batched.roots[0] = board.state
    visits = batched.run(150).visits[0]
    found = {each.actions[0]: each.visits for each in search.variations(7)}
    assert [found[action] for action in range(7)] == visits.tolist()


@pytest.mark.parametrize("temperature", [0.01, 0.5, 1.0, 2.0, 100.0])
def test_priors_are_softened_and_reported_as_the_network_gave_them(temperature: float) -> None:
    logits = np.array([[3.0, -2.0, 0.5, 80.0, 79.0, -90.0, 0.0]], np.float32)
    answer = logits, np.full((1, 3), 1 / 3, np.float32)
    config = SearchConfig(method="puct", policy_temperature=temperature)
    search, _ = new_analysis(CONNECT4, evaluator=lambda _: answer, config=config, leaves=1)
    shares = np.exp((logits[0].astype(np.float64) - 80) / temperature)
    np.testing.assert_allclose(
        search.tree.edges["prior"][0, :7], shares / shares.sum(), rtol=1e-4, atol=1e-30
    )
    shares = np.exp(logits[0].astype(np.float64) - 80)
    reported = {each.actions[0]: each.prior for each in search.variations(7)}
    np.testing.assert_allclose(
        [reported[action] for action in range(7)], shares / shares.sum(), rtol=1e-4, atol=1e-30
    )


def test_after_gumbel_search_puct_has_settings_of_its_own() -> None:
    visits = []
    for config in (SearchConfig(c_scale=0.5), analysis.AFTER_GUMBEL, SearchConfig(method="puct")):
        search, _ = new_analysis(CONNECT4, evaluator=toy.hashed(7), config=config)
        search.grow(200)
        visits.append({each.actions[0]: each.visits for each in search.variations(7)})
    assert visits[0] == visits[1] != visits[2]


def test_excluded_moves_leave_their_priors_to_the_others() -> None:
    search, board = new_analysis(CONNECT4, evaluator=toy.hashed(7))
    everything = {each.actions[0]: each.prior for each in search.variations(7)}
    search.set_position(board.state, board.repetitions, only=[1, 4])
    total = everything[1] + everything[4]
    found = {each.actions[0]: each.prior for each in search.variations(7)}
    assert found == pytest.approx({each: everything[each] / total for each in (1, 4)}, rel=1e-5)
    assert search.tree.edges["prior"][0, :2].sum() == pytest.approx(1)


def test_moves_of_tiny_priors_can_be_searched_alone() -> None:
    logits = np.array([[300.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]], np.float32)
    answer = logits, np.full((1, 3), 1 / 3, np.float32)
    search, board = new_analysis(CONNECT4, evaluator=lambda _: answer)
    search.set_position(board.state, board.repetitions, only=[1, 4])
    found = {each.actions[0]: each.prior for each in search.variations(7)}
    odds = np.exp(1.0)
    assert found == pytest.approx({1: odds / (1 + odds), 4: 1 / (1 + odds)}, rel=1e-4)
    softer = search.tree.edges["prior"][0, :2]
    assert softer == pytest.approx(np.sqrt([odds, 1]) / (1 + np.sqrt(odds)), rel=1e-4)


@pytest.mark.parametrize("leaves", BATCH_SIZES)
@pytest.mark.parametrize("rules", [TICTACTOE, CONNECT4], ids=lambda rules: rules.name)
def test_virtual_visits_are_removed(rules: Game, leaves: int) -> None:
    search, _ = new_analysis(rules, evaluator=toy.hashed(rules.num_actions), leaves=leaves)
    made = search.grow(300)
    assert made == search.progress.simulations == root_visits(search) and 250 <= made <= 300
    check_counts(search)


def test_batches_are_filled() -> None:
    sizes: list[int] = []
    answer = toy.uniform(7)

    def spy(planes: Any) -> Any:
        sizes.append(len(planes))
        return answer(planes)

    search, _ = new_analysis(CONNECT4, evaluator=spy, leaves=8)
    search.grow(800)
    assert max(sizes) == 8 and np.mean(sizes) > 4


@pytest.mark.parametrize("leaves", BATCH_SIZES)
def test_a_small_game_is_solved(leaves: int) -> None:
    for position, value in (("12597", LOSS), ("1523746", DRAW), ("1425", WIN)):
        search, _ = new_analysis(TICTACTOE, position, leaves=leaves)
        search.grow(2000)
        assert search.is_finished and search.variations()[0].proof == value


MATES = {
    "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1": (1, "d1d8"),
    "kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1": (2, "a1a6"),
    "1k6/8/8/1K6/8/8/8/7R w - - 0 1": (3, None),
    "r5rk/5p1p/5R2/4B3/8/8/7P/7K w - - 0 1": (3, None),
}


@pytest.mark.parametrize("position", MATES)
def test_mates_are_found_and_counted(position: str) -> None:
    moves, best = MATES[position]
    search, board = new_analysis(CHESS, position, leaves=8, max_nodes=50_000)
    search.grow(45_000)
    variation = search.variations()[0]
    assert variation.proof == WIN and variation.value == 1.0 and variation.wdl == (1.0, 0.0, 0.0)
    assert moves <= (variation.plies + 1) // 2 <= moves + 3
    if best:
        assert CHESS.write_move(board.state, variation.actions[0]) == best
        assert variation.plies == 2 * moves - 1 == len(variation.actions)


def test_the_losing_side_finds_the_mate() -> None:
    search, _ = new_analysis(CHESS, "7k/8/6K1/8/8/8/8/R7 b - - 0 1")
    search.grow(500)
    variation = search.variations()[0]
    assert (variation.proof, variation.plies, variation.value) == (LOSS, 2, -1.0)


def test_the_fifty_move_rule_is_a_draw() -> None:
    search, _ = new_analysis(CHESS, "8/8/4k3/8/8/4K3/8/R7 w - - 99 80")
    search.grow(500)
    variation = search.variations()[0]
    assert variation.proof == DRAW and variation.wdl == (0.0, 1.0, 0.0)


def test_stalemate_is_a_draw() -> None:
    search, board = new_analysis(CHESS, "7k/8/6K1/5Q2/8/8/8/8 w - - 0 1")
    search.grow(400)
    written = {
        CHESS.write_move(board.state, each.actions[0]): each for each in search.variations(99)
    }
    assert written["f5f7"].proof == DRAW and search.variations()[0].proof == WIN


def test_the_third_repetition_is_a_draw() -> None:
    search, board = new_analysis(CHESS)
    play_moves(search, board, "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1")
    search.grow(200)
    back = CHESS.read_move(board.state, "f6g8")
    variation = next(each for each in search.variations(99) if each.actions[0] == back)
    assert variation.proof == DRAW and variation.value == 0.0 and variation.actions == (back,)


def read_actions(board: Board, moves: Sequence[str]) -> list[int]:
    """Return the actions of `moves` from the current position."""
    state, actions = board.state.copy(), []
    for move in moves:
        actions.append(board.game.read_move(state, move))
        board.game.rules.play(state, actions[-1])
    return actions


def find_edge(search: AnalysisSearch, actions: Sequence[int]) -> Any:
    """Return the last edge of the path of `actions` from the root."""
    tree, node, found = search.tree, 0, None
    for action in actions:
        record = tree.nodes[0, node]
        edges = range(record.first_edge, record.first_edge + record.num_edges)
        found = next(tree.edges[0, edge] for edge in edges if tree.edges[0, edge].action == action)
        node = found.child
    return found


def prefer(rules: Game, moves: Sequence[str]) -> Any:
    """Return an evaluator that strongly prefers `moves`."""
    logits = np.zeros(rules.num_actions, np.float32)
    logits[read_actions(Board(rules), moves)] = 9.0

    def evaluate(planes: Any) -> Any:
        return np.tile(logits, (len(planes), 1)), np.full((len(planes), 3), 1 / 3, np.float32)

    return evaluate


def test_a_repetition_is_searched_again_once_it_is_on_the_board() -> None:
    moves = ["g1f3", "g8f6", "f3g1", "f6g8"]
    search, board = new_analysis(CHESS, evaluator=prefer(CHESS, moves))
    search.grow(300)
    assert find_edge(search, read_actions(board, moves)).proof == DRAW
    play_moves(search, board, "g1f3 g8f6")
    back = find_edge(search, read_actions(board, ["f3g1", "f6g8"]))
    assert (back.proof, back.child) == (ONGOING, -1) and back.visits > 0
    assert search.grow(300) == 300
    back = find_edge(search, read_actions(board, ["f3g1", "f6g8"]))
    assert back.proof == ONGOING and search.tree.states[0, back.child].repeats == 1


@pytest.mark.parametrize("rules", [CONNECT4, CHESS], ids=lambda rules: rules.name)
def test_the_subtree_below_played_moves_is_reused(rules: Game) -> None:
    search, board = new_analysis(rules, evaluator=toy.hashed(rules.num_actions))
    search.grow(600)
    variation = search.variations()[0]
    assert len(variation.actions) > 3
    for action in variation.actions[:2]:
        board.play(action)
    search.set_position(board.state, board.repetitions, moves=variation.actions[:2])
    kept = root_visits(search)
    assert search.progress.simulations == 0 and kept > 5
    assert search.variations()[0].actions == variation.actions[2:]
    check_counts(search)
    assert search.grow(200) == 200 and root_visits(search) == kept + 200
    check_counts(search)


def test_moves_without_a_subtree_start_a_new_tree() -> None:
    search, board = new_analysis(CONNECT4)
    play_moves(search, board, "4 4 4 4")
    assert root_visits(search) == 0
    search.grow(50)
    assert root_visits(search) == 50


def test_the_root_moves_can_be_restricted() -> None:
    search, board = new_analysis(CONNECT4)
    search.set_position(board.state, board.repetitions, only=[2, 6])
    search.grow(100)
    assert {each.actions[0] for each in search.variations(9)} == {2, 6} and root_visits(
        search
    ) == 100
    search.set_position(board.state, board.repetitions, moves=[])
    assert len(search.variations(9)) == 7


def test_a_full_tree_ends_the_search() -> None:
    search, _ = new_analysis(CHESS, max_nodes=60, leaves=8)
    made = search.grow(5000)
    assert search.is_finished and made < 100 and search.progress.fullness > 0.8
    assert search.tree.searches[0].edges_used <= search.tree.edges.shape[1]
    assert search.variations()[0].visits > 0 and search.grow(100) == 0


def test_a_search_can_be_stopped_after_a_batch() -> None:
    search, _ = new_analysis(CONNECT4, leaves=4)
    assert search.grow(1000, lambda: True) <= 4
    assert search.grow(10) == 10


@pytest.mark.parametrize(
    ("seconds_per_call", "seconds_per_row", "leaves"),
    [(0.003, 0.0, 64), (0.0, 0.003, 1), (0.003, 0.001, 8)],
)
def test_batches_are_as_large_as_the_evaluator_gains_from(
    monkeypatch: pytest.MonkeyPatch, seconds_per_call: float, seconds_per_row: float, leaves: int
) -> None:
    clock, answer = FakeTime(), toy.uniform(7)
    monkeypatch.setattr(analysis, "time", clock)

    def evaluate(planes: Any) -> Any:
        clock.sleep(seconds_per_call + seconds_per_row * len(planes))
        return answer(planes)

    assert analysis.choose_leaves(CONNECT4, evaluate) == leaves


def test_the_number_of_nodes_is_proportional_to_the_memory() -> None:
    small, large = nodes_in_memory(CHESS, 64), nodes_in_memory(CHESS, 128)
    assert 1.8 < large / small < 2.2 and small > 10_000


def test_the_shipped_net_finds_the_move_of_the_batched_search() -> None:
    net = load_shipped(CONNECT4).build()
    evaluator = CpuEvaluator(net, CONNECT4.planes_shape, backend="float32")
    search, board = new_analysis(CONNECT4, "4455", evaluator=evaluator)
    search.grow(64)
    batched = CpuSearch(
        CONNECT4,
        evaluator,
        config=SearchConfig(),
        num_games=1,
        max_simulations=64,
        explore=False,
        seed=1,
    )
    batched.roots[0] = board.state
    assert search.variations()[0].actions[0] == batched.run(64).actions[0]
