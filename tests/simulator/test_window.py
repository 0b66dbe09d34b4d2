"""The window on a device against the one in the host's memory."""

import numpy as np
import pytest
import torch

from rookery.games import load_game
from rookery.replay import DeviceWindow, ReplayConfig, Samples, Window
from rookery.replay.rows import from_samples, to_samples

CPU = torch.device("cpu")
RULES = load_game("tictactoe")


def some_samples(count: int, seed: int, born: int) -> Samples:
    """Positions of random play with random policies and values."""
    stream = np.random.default_rng(seed)
    states = RULES.new_states(count)
    for state in states:
        for _ in range(stream.integers(5)):
            RULES.rules.play(state, stream.choice(RULES.legal_actions(state)))
    legal = [RULES.legal_actions(state) for state in states]
    policies = [stream.dirichlet(np.ones(len(actions))) for actions in legal]
    return Samples(
        states=states,
        results=stream.integers(-1, 2, count).astype(np.int8),
        values=np.stack(
            [stream.uniform(-0.5, 0.5, count), stream.uniform(0, 0.5, count)], 1
        ).astype(np.float16),
        starts=np.concatenate([[0], np.cumsum([len(a) for a in legal])]).astype(np.uint32),
        actions=np.concatenate(legal).astype(np.int16),
        probabilities=np.concatenate(policies).astype(np.float16),
        plies=np.zeros(count, np.int16),
        born=np.full(count, born, np.int32),
    )


def test_nothing_has_the_same_figures_in_both() -> None:
    config = ReplayConfig(window_min=4, window_max=12)
    host, device = Window(RULES, config), DeviceWindow(RULES, config, CPU)
    assert device.statistics(1) == host.statistics(1)


def filled(config: ReplayConfig, parts: list[Samples]) -> tuple[Window, DeviceWindow]:
    host, device = Window(RULES, config), DeviceWindow(RULES, config, CPU)
    for part in parts:
        host.add(part)
        device.books.enter(len(part))
        count = torch.tensor([len(part)])
        device.append(from_samples(part, RULES, CPU), count, iteration=int(part.born[0]))
    return host, device


def test_samples_survive_the_way_to_the_device_and_back() -> None:
    samples = some_samples(6, 1, born=4)
    back = to_samples(from_samples(samples, RULES, CPU), 4)
    for name in ("states", "results", "values", "starts", "actions", "probabilities", "born"):
        np.testing.assert_array_equal(getattr(back, name), getattr(samples, name), err_msg=name)


def test_both_windows_hold_the_same_rows() -> None:
    config = ReplayConfig(window_min=4, window_max=12, window_growth=0.5)
    parts = [some_samples(count, seed, born=seed) for seed, count in enumerate((5, 9, 7, 11))]
    host, device = filled(config, parts)
    assert device.rows_made == host.rows_made
    assert device.shard_numbers == host.shard_numbers
    expected, found = host.statistics(5), device.statistics(5)
    assert found.rows == expected.rows
    assert found.rows_made == expected.rows_made
    assert found.mean_age == pytest.approx(expected.mean_age)
    assert found.duplicate_share == pytest.approx(expected.duplicate_share)
    assert found.policy_entropy == pytest.approx(expected.policy_entropy, abs=1e-3)


def test_a_window_smaller_than_what_arrives_keeps_the_newest() -> None:
    samples = some_samples(9, 2, born=0)
    _, device = filled(ReplayConfig(window_min=4, window_max=4), [samples])
    held = to_samples(device._rows.fetch(4), 0)
    expected = sorted(samples.states[-4:].tolist())
    assert sorted(held.states.tolist()) == expected


def test_a_window_enlarged_on_resume_draws_only_what_was_loaded() -> None:
    device = DeviceWindow(RULES, ReplayConfig(window_min=4, window_max=16), CPU)
    device.refill([(3, some_samples(5, 4, born=2))], rows_made=100)
    assert device.statistics(3).rows == 5 == device.books.rows
    assert torch.isfinite(device.draw(50, result_mix=0.5).policy).all()


def test_drawn_rows_are_rows_of_the_window_turned() -> None:
    samples = some_samples(3, 3, born=0)
    _, device = filled(ReplayConfig(window_min=3, window_max=8), [samples])
    batch = device.draw(40, result_mix=0.25)
    turned = {
        tuple(planes.ravel().tolist())
        for state in samples.states
        for planes in symmetric_planes(state)
    }
    seen = {tuple(planes.flatten().tolist()) for planes in batch.planes}
    assert seen <= turned
    assert len(seen) > 3
    np.testing.assert_allclose(batch.policy.sum(1), 1, atol=1e-5)
    np.testing.assert_allclose(batch.wdl.sum(1), 1, atol=1e-5)
    stones = batch.planes.sum(1).flatten(1)
    assert torch.equal(batch.legal, stones == 0)  # a cell is an action, and turns with it
    assert not (batch.policy[~batch.legal]).any()


def symmetric_planes(state: np.record) -> list[np.ndarray]:
    planes = np.zeros(RULES.planes_shape, np.float32)
    RULES.rules.planes(state, planes)
    flat = planes.reshape(planes.shape[0], -1)
    return [flat[:, cells] for cells in RULES.cell_symmetries]
