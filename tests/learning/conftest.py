"""A small network and a window of random Tic-Tac-Toe positions with random targets."""

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor, nn

from rank_processes import one_row, random_moves
from rookery.base import generator
from rookery.games import Game, load_game
from rookery.replay import ReplayConfig, Window, concatenate


class TinyNet(nn.Module):
    """A convolution with batch norm and two linear heads."""

    def __init__(self, game: Game, norm: bool = True) -> None:
        super().__init__()
        planes, height, width = game.planes_shape
        self.conv = nn.Conv2d(planes, 16, 3, padding=1)
        self.norm = nn.BatchNorm2d(16) if norm else nn.Identity()
        self.policy = nn.Linear(16 * height * width, game.num_actions)
        self.wdl = nn.Linear(16 * height * width, 3)

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        x = torch.relu(self.norm(self.conv(planes))).flatten(1)
        return self.policy(x), self.wdl(x)


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
def make_window(tictactoe: Game):
    def make(positions: list[list[int]]) -> Window:
        window = Window(tictactoe, ReplayConfig())
        rng = generator(0, "test targets")
        window.add(concatenate([one_row(tictactoe, moves, rng=rng) for moves in positions]))
        return window

    return make


@pytest.fixture
def window(tictactoe: Game, make_window) -> Window:
    rng = generator(0, "test positions")
    return make_window([random_moves(tictactoe, rng) for _ in range(100)])


@pytest.fixture
def make_net(tictactoe: Game):
    def make(seed: int = 0, norm: bool = True) -> TinyNet:
        torch.manual_seed(seed)
        return TinyNet(tictactoe, norm)

    return make
