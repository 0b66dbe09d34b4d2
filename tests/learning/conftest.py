"""A small network and a window of random Tic-Tac-Toe positions with random targets."""

from collections.abc import Callable, Iterator

import pytest
import torch

from rank_processes import one_row, random_moves
from rookery.base import generator
from rookery.games import Game, load_game
from rookery.replay import ReplayConfig, Window, concatenate
from tiny_net import TinyNet


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Use one thread: networks this small are slower with more."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def tictactoe() -> Game:
    return load_game("tictactoe")


@pytest.fixture
def make_window(tictactoe: Game) -> Callable[..., Window]:
    def make(positions: list[list[int]]) -> Window:
        window = Window(tictactoe, ReplayConfig())
        rng = generator(0, "test targets")
        window.add(concatenate([one_row(tictactoe, moves, rng=rng) for moves in positions]))
        return window

    return make


@pytest.fixture
def window(tictactoe: Game, make_window: Callable[..., Window]) -> Window:
    rng = generator(0, "test positions")
    return make_window([random_moves(tictactoe, rng) for _ in range(100)])


@pytest.fixture
def make_net(tictactoe: Game) -> Callable[..., TinyNet]:
    def make(seed: int = 0, norm: bool = True) -> TinyNet:
        torch.manual_seed(seed)
        return TinyNet(tictactoe, norm)

    return make
