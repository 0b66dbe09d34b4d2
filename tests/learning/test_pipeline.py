"""A network over several ranks in separate processes learns what the whole network learns."""

import json
import multiprocessing
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.utils import convert_conv2d_weight_memory_format

from pipeline_ranks import (
    CASES,
    CLIP_NORM,
    SILENCE_SECONDS,
    Case,
    gradients,
    learn_all,
    random_batch,
    updates,
    whole_net,
)
from rookery.base import read_arrays
from rookery.games import load_game
from rookery.learning import Learner
from rookery.learning.gradients import GradientComputer
from rookery.nets import count_parameters, freeze

DEADLINE_SECONDS = 120
every_case = pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=case.name, marks=[pytest.mark.slow] if case.ranks > 2 else [])
        for case in CASES
    ],
)
Results = Callable[[int], Path]
"""Returns the folder in which a group of some size has written its results."""
TOLERANCE = {"float32": 2e-6, "bfloat16": 2e-3}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Return the folder in which a group of `size` ranks has written its results."""

    @cache  # of a failure too, so that it is not repeated
    def run(size: int) -> tuple[Path, list[int | None]]:
        folder = tmp_path_factory.mktemp(f"ranks{size}")
        return folder, run_ranks(size, folder)

    def learned(size: int) -> Path:
        folder, exit_codes = run(size)
        assert exit_codes == [0] * size
        return folder

    return learned


def run_ranks(size: int, folder: Path) -> list[int | None]:
    """Return the exit codes; None for ranks that did not end in time."""
    context = multiprocessing.get_context("spawn")
    ranks = [
        context.Process(target=learn_all, args=(rank, size, folder), daemon=True)
        for rank in range(size)
    ]
    for rank in ranks:
        rank.start()
    deadline = time.monotonic() + DEADLINE_SECONDS
    try:
        for rank in ranks:
            rank.join(max(0.0, deadline - time.monotonic()))
        return [rank.exitcode for rank in ranks]
    finally:
        for rank in ranks:
            rank.kill()


@cache
def learned_whole(case: Case) -> tuple[Learner, dict[str, np.ndarray], np.ndarray]:
    """Return an unsplit learner after all updates, its first gradients and all losses."""
    learner = whole_learner(case)
    losses = updates(learner, range(1))
    first = gradients(learner.net)
    return learner, first, np.concatenate([losses, updates(learner, range(1, case.num_updates))])


def whole_learner(case: Case) -> Learner:
    game = load_game("tictactoe")
    return Learner(game, whole_net(game, case), config=case.config, seed=0)


def read(results: Results, case: Case, what: str) -> dict[str, np.ndarray]:
    return read_arrays(results(case.ranks) / f"{case.name}-{what}")[0]


def told(results: Results, case: Case, rank: int) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        (results(case.ranks) / f"{case.name}-{rank}.json").read_text()
    )
    return found


def check_close(found: dict[str, Any], expected: dict[str, Any], tolerance: float) -> None:
    assert sorted(found) == sorted(expected)
    for name, array in expected.items():
        assert found[name].shape == array.shape
        difference = np.abs(found[name] - array).max()
        assert difference <= tolerance, f"{name} differs by {difference}"


@every_case
def test_a_net_in_parts_learns_what_the_whole_net_learns(results: Results, case: Case) -> None:
    learner, _, _ = learned_whole(case)
    state = learner.state()
    check_close(read(results, case, "end"), state, 5 * TOLERANCE[case.precision])
    check_close(read(results, case, "play"), learner.play_arrays(), 5 * TOLERANCE[case.precision])


@every_case
def test_the_clipped_gradients_are_those_of_the_whole_net(results: Results, case: Case) -> None:
    _, expected, _ = learned_whole(case)
    found = read(results, case, "clipped")
    check_close(found, expected, TOLERANCE[case.precision])
    squares = sum((gradient.astype(np.float64) ** 2).sum() for gradient in found.values())
    assert squares**0.5 == pytest.approx(CLIP_NORM, rel=1e-3)


@every_case
def test_all_ranks_report_the_losses_of_the_whole_batch(results: Results, case: Case) -> None:
    _, _, expected = learned_whole(case)
    for rank in range(case.ranks):
        found = np.array(told(results, case, rank)["losses"])
        assert np.allclose(found, expected, atol=20 * TOLERANCE[case.precision], rtol=1e-3)
        assert (found == np.array(told(results, case, 0)["losses"])).all()


@every_case
def test_the_gradients_are_those_of_a_gradient_computer(results: Results, case: Case) -> None:
    game = load_game("tictactoe")
    net = convert_conv2d_weight_memory_format(whole_net(game, case), torch.channels_last)
    config = replace(case.config, value_weight=0.5)
    single = GradientComputer(net, config=config, precision=case.precision)
    single.gradients(random_batch(game, 0))
    check_close(read(results, case, "raw"), gradients(net), 5 * TOLERANCE[case.precision])
    norm = np.linalg.norm([np.linalg.norm(array) for array in gradients(net).values()])
    for rank in range(case.ranks):
        assert told(results, case, rank)["norm"] == pytest.approx(norm, rel=1e-2)


@every_case
def test_a_restored_group_continues_bit_for_bit(results: Results, case: Case) -> None:
    end, other = read(results, case, "end"), read(results, case, "other")
    assert end.keys() == other.keys()
    assert all(end[name].tobytes() == other[name].tobytes() for name in end)


def test_an_unsplit_learner_continues_from_the_state_of_a_group(results: Results) -> None:
    case = CASES[0]
    learner = whole_learner(case)
    learner.restore(read(results, case, "middle"))
    assert learner.updates == case.halfway
    updates(learner, range(case.halfway, case.num_updates))
    check_close(learner.state(), learned_whole(case)[0].state(), 1e-5)


@every_case
def test_no_rank_holds_more_than_its_part(results: Results, case: Case) -> None:
    net = whole_net(load_game("tictactoe"), case)
    freeze(net, case.config.frozen)
    layers = [*net.get_submodule("blocks").children(), net.get_submodule("policy")]
    largest = max(sum(w.numel() for w in layer.parameters()) for layer in layers)
    held = [told(results, case, rank)["weights"] for rank in range(case.ranks)]
    assert sum(held) == count_parameters(net)
    assert max(held) <= count_parameters(net) / case.ranks + largest


@pytest.mark.parametrize("size", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_ranks_notice_that_one_is_lost(results: Results, size: int) -> None:
    for rank in range(size - 1):
        seconds = float((results(size) / f"lost-{rank}").read_text())
        assert seconds < SILENCE_SECONDS
