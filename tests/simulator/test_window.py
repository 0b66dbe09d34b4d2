"""The window's kernels under the simulator: the batches that compiled code builds on the CPU.

Both are compared with the same slow reference, bit for bit: see tests/replay/test_batch.py.
"""

import numpy as np
import pytest

from rookery.games import load_game
from rookery.replay import ReplayConfig, Window
from slow_replay import equal, random_rows, same, slow_batch

STREAM = 0xFEDCBA9876543210


@pytest.mark.parametrize(("name", "num_games"), [("tictactoe", 4), ("connect4", 3), ("chess", 1)])
def test_batches_are_those_of_the_slow_reference(name: str, num_games: int) -> None:
    game = load_game(name)
    window = Window(game, ReplayConfig(window_min=25, window_max=25))
    for seed in range(3):
        window.add(random_rows(game, num_games, seed, max_plies=14))
    rows = window.newest(len(window))
    for first, result_mix in ((0, 0.3), (10**12, 1.0)):
        cards = list(range(first, first + 40))
        offsets, stream = np.arange(40), np.uint64(STREAM)
        found = window.batch(np.array([first]), offsets, stream=stream, result_mix=result_mix)
        expected = slow_batch(game, rows, cards, stream=STREAM, result_mix=result_mix)
        assert equal(found, expected)


def test_a_window_read_back_equals_the_one_that_was_lost() -> None:
    game, config = load_game("tictactoe"), ReplayConfig(window_min=20, window_max=30)
    parts = [random_rows(game, 3, seed, iteration=seed) for seed in range(4)]
    lost, found = Window(game, config), Window(game, config)
    for part in parts:
        lost.add(part)
    found.refill([(number, parts[number]) for number in lost.shard_numbers], lost.rows_made)
    assert same(found.newest(len(found)), lost.newest(len(lost)))
    assert found.statistics(5) == lost.statistics(5)
