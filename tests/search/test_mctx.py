"""The search against mctx, an independent implementation: the same priors and values in, the same
visits and policies out. `data/mctx.json` says what it holds; tools/make_mctx_truth.py made it."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rookery.games import load_game
from rookery.search import CpuSearch, Decisions, Evaluator, SearchConfig

Boards = NDArray[np.float32]

TRUTH = json.loads((Path(__file__).parent / "data" / "mctx.json").read_text())


def linear_evaluator(name: str) -> Evaluator:
    weights = {key: np.array(w, np.float32) for key, w in TRUTH["evaluators"][name].items()}

    def evaluate(planes: Boards) -> tuple[Boards, Boards]:
        x = planes.reshape(len(planes), -1)
        value = np.tanh(x @ weights["value_weights"])
        logits = x @ weights["policy_weights"] + weights["policy_bias"]
        return logits, np.stack([(1 + value) / 2, 0 * value, (1 - value) / 2], 1)

    return evaluate


def by_setting(policy: str) -> dict[Any, list[Any]]:
    groups = defaultdict(list)
    for case in TRUTH["cases"]:
        if case["policy"] == policy:
            is_noisy = case["gumbel"] is not None
            groups[case["game"], case["simulations"], case["considered"], is_noisy].append(case)
    return groups


def search_all(cases: list[Any], *, explore: bool) -> Decisions:
    first = cases[0]
    rules = load_game(first["game"])
    config = SearchConfig(method=first["policy"], considered=first["considered"] or 16, prove=False)
    simulations = first["simulations"]
    search = CpuSearch(
        rules,
        linear_evaluator(rules.name),
        config=config,
        num_games=len(cases),
        max_simulations=simulations,
        explore=explore,
        seed=0,
    )
    search.roots[:] = np.array([rules.position(case["position"]) for case in cases])
    search.begin(simulations)
    for g, case in enumerate(cases):
        if explore:
            legal = rules.legal_actions(search.roots[g])
            search.tree.noise[g, : len(legal)] = np.array(case["gumbel"])[legal]
    return search.finish(simulations)


@pytest.mark.parametrize("setting", by_setting("gumbel"), ids=str)
def test_gumbel_search_equals_mctx(setting: Any) -> None:
    cases = by_setting("gumbel")[setting]
    decisions = search_all(cases, explore=setting[3])
    for g, case in enumerate(cases):
        assert decisions.visits[g].tolist() == case["visits"], case
        assert decisions.actions[g] == case["action"], case
        np.testing.assert_allclose(decisions.policy[g], case["weights"], atol=2e-4)


@pytest.mark.parametrize("setting", by_setting("puct"), ids=str)
def test_puct_search_equals_mctx(setting: Any) -> None:
    cases = by_setting("puct")[setting]
    decisions = search_all(cases, explore=False)
    for g, case in enumerate(cases):
        assert decisions.visits[g].tolist() == case["visits"], case
        assert case["visits"][decisions.actions[g]] == max(case["visits"])
        np.testing.assert_allclose(decisions.policy[g], case["weights"], atol=1e-5)
