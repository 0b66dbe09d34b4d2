"""The batched search on small positions with known results, and its invariants."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import toy
from rookery.games import DRAW, LOSS, WIN, Game, load_game
from rookery.search import CpuSearch, Decisions, SearchConfig

DATA = Path(__file__).parent / "data"
TICTACTOE, CONNECT4 = load_game("tictactoe"), load_game("connect4")
METHODS = ("gumbel", "puct")


def new_search(
    rules: Game, positions: list[str], *, evaluator: Any = None, **options: Any
) -> CpuSearch:
    settings: dict[str, Any] = {
        "explore": False,
        "seed": 0,
        "max_simulations": 64,
        "method": "gumbel",
    } | options
    config = SearchConfig(method=settings.pop("method"), prove=settings.pop("prove", True))
    search = CpuSearch(
        rules,
        evaluator or toy.uniform(rules.num_actions),
        config=config,
        num_games=len(positions),
        **settings,
    )
    search.roots[:] = np.array([rules.position(position) for position in positions])
    return search


def decide(rules: Game, position: str, simulations: int, **options: Any) -> Decisions:
    return new_search(rules, [position], **options).run(simulations)


@pytest.mark.parametrize("method", METHODS)
def test_a_win_in_one_is_found_and_proved(method: str) -> None:
    found = decide(CONNECT4, "112233", 32, method=method)
    assert found.actions[0] == 3
    assert found.values[0].tolist() == [1.0, 0.0]
    assert found.policy[0, 3] == 1.0


@pytest.mark.parametrize("method", METHODS)
def test_the_only_defence_is_found(method: str) -> None:
    found = decide(CONNECT4, "1122335", 64, method=method)
    assert found.actions[0] == 3
    assert found.policy[0].argmax() == 3


@pytest.mark.parametrize("method", METHODS)
def test_a_lost_position_is_proved_lost(method: str) -> None:
    # X threatens 1-4-7 and 3-5-7, and O has no winning move.
    found = decide(TICTACTOE, "12597", 64, method=method)
    assert found.values[0, 0] == -1.0


def test_a_draw_is_proved_when_the_tree_is_small() -> None:
    found = decide(TICTACTOE, "1523746", 64)
    assert found.values[0].tolist() == [0.0, 1.0]


def test_without_proofs_the_value_is_an_estimate() -> None:
    proved = decide(TICTACTOE, "12597", 64)
    estimated = decide(TICTACTOE, "12597", 64, prove=False)
    assert proved.values[0, 0] == -1.0
    assert -1.0 < estimated.values[0, 0] < 0.0


@pytest.mark.parametrize("method", METHODS)
def test_every_simulation_is_counted_at_the_root(method: str) -> None:
    found = decide(CONNECT4, "44", 50, method=method, evaluator=toy.hashed(7))
    assert found.visits.sum() == 50
    assert found.policy[0].sum() == pytest.approx(1.0)


def test_sequential_halving_gives_two_moves_most_simulations() -> None:
    visits = sorted(decide(CONNECT4, "", 48, evaluator=toy.hashed(7)).visits[0])
    assert visits[0] >= 1
    assert sum(visits[-2:]) > 24


@pytest.mark.parametrize("method", METHODS)
def test_a_batch_of_games_equals_the_games_alone(method: str) -> None:
    positions = ["", "4", "44", "4453", "112", "1234567", "72635"]
    options: Any = {"method": method, "evaluator": toy.hashed(7), "explore": True}
    together = new_search(CONNECT4, positions, **options)
    streams = together.tree.streams.copy()
    found = together.run(40)
    for g, position in enumerate(positions):
        alone = new_search(CONNECT4, [position], **options)
        alone.tree.streams[:] = streams[g]
        single = alone.run(40)
        assert single.visits[0].tolist() == found.visits[g].tolist()
        assert single.policy[0].tobytes() == found.policy[g].tobytes()
        assert single.values[0].tobytes() == found.values[g].tobytes()


def test_the_first_games_of_a_batch_can_be_searched_alone() -> None:
    search = new_search(CONNECT4, ["4", "44", "444"], evaluator=toy.hashed(7))
    assert len(search.run(16, 2).actions) == 2


@pytest.mark.parametrize("method", METHODS)
def test_searches_differ_only_with_noise(method: str) -> None:
    options: Any = {"method": method, "evaluator": toy.hashed(7)}
    noisy = new_search(CONNECT4, [""] * 32, explore=True, **options).run(8)
    quiet = new_search(CONNECT4, [""] * 32, explore=False, **options).run(8)
    assert len({row.tobytes() for row in noisy.visits}) > 1
    assert len({row.tobytes() for row in quiet.visits}) == 1


def test_a_full_tree_is_still_searched() -> None:
    search = new_search(CONNECT4, ["44"], evaluator=toy.hashed(7), max_simulations=60)
    tree = search.tree
    small = tree._replace(nodes=tree.nodes[:, :21].copy(), states=tree.states[:, :21].copy())
    search.tree = small._replace(edges=tree.edges[:, :70].copy())
    found = search.run(60)
    assert found.visits.sum() == 60
    assert search.tree.searches[0].nodes_used <= 20
    assert search.tree.searches[0].edges_used <= 70


def tree_as_lists(search: CpuSearch) -> dict[str, Any]:
    """Return all of tree 0, for the golden file."""
    tree, used = search.tree, search.tree.searches[0]
    nodes = tree.nodes[0, : used.nodes_used]
    edges = tree.edges[0, : used.edges_used]
    return {
        "children": edges["child"].tolist(),
        "actions": edges["action"].tolist(),
        "visits": edges["visits"].tolist(),
        "values": [round(float(value), 4) for value in edges["value_sum"]],
        "proofs": nodes["proof"].tolist(),
    }


@pytest.mark.parametrize("method", METHODS)
def test_the_search_equals_the_golden_tree(method: str) -> None:
    """Run with REWRITE_GOLDEN=1 to rewrite the file, and review the difference."""
    path = DATA / f"golden_{method}.json"
    search = new_search(TICTACTOE, ["51"], method=method, evaluator=toy.hashed(9))
    search.run(24)
    grown = tree_as_lists(search)
    if os.environ.get("REWRITE_GOLDEN"):
        path.write_text(json.dumps(grown))
    assert grown == json.loads(path.read_text())


def test_proofs_agree_with_minimax() -> None:
    search = new_search(TICTACTOE, ["51"], evaluator=toy.hashed(9))
    search.run(60)
    used = search.tree.searches[0].nodes_used
    proved = [n for n in range(used) if search.tree.nodes[0, n].proof in (WIN, DRAW, LOSS)]
    assert len(proved) > 5
    for node in proved:
        assert search.tree.nodes[0, node].proof == minimax(search.tree.states[0, node])


def minimax(state: Any) -> int:
    outcome = TICTACTOE.rules.outcome(state)
    if outcome in (WIN, DRAW, LOSS):
        return int(outcome)
    best = LOSS
    for action in TICTACTOE.legal_actions(state):
        after = state.copy()
        TICTACTOE.rules.play(after, action)
        best = max(best, -minimax(after))
    return best


SCRIPT = """
import sys; sys.path.insert(0, sys.argv[1])
import numpy, toy
from rookery.games import load_game
from rookery.search import CpuSearch, SearchConfig
for name, position in (("connect4", "4453"), ("tictactoe", "51")):
    for method in ("gumbel", "puct"):
        rules = load_game(name)
        search = CpuSearch(rules, toy.hashed(rules.num_actions), config=SearchConfig(method=method),
                           num_games=2, max_simulations=12, explore=True, seed=3)
        search.roots[:] = numpy.array([rules.position(position)] * 2)
        found = search.run(12)
        print(name, method, found.visits.tolist(), found.policy.round(4).tolist(),
              found.values.round(4).tolist())
"""


def test_compiled_equals_interpreted() -> None:
    def output(**extra: str) -> str:
        command = [sys.executable, "-c", SCRIPT, str(Path(__file__).parents[1])]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)} | extra
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return done.stdout

    assert output() == output(NUMBA_DISABLE_JIT="1")
