"""Learners of a whole network and of its parts on one GPU, each in a process of its own."""

import json
from pathlib import Path

import numpy as np
import torch
from torch.distributed import FileStore  # type: ignore[attr-defined]

from rookery.base import write_arrays
from rookery.games import Game, load_game
from rookery.learning import Learner, LearningConfig, ProcessGroup, RankSpec
from rookery.learning.pipeline.rank import PipelineLearner
from rookery.nets import NetConfig, build_net
from rookery.replay import Batch

ROWS, UPDATES = 64, 4
"""After more updates a spike that rounding has moved would change what follows."""
CONFIG = LearningConfig(
    batch_size=ROWS, accumulate=4, precision="float32", warmup_updates=3, learning_rate=1e-4
)
SILENCE_SECONDS = 120.0


def net_config(kind: str) -> NetConfig:
    """Return a network whose weights need far more memory than its activations."""
    return NetConfig(kind, width=256, depth=6)


def learn(rank: int, size: int, kind: str, folder: Path) -> None:
    """Make all updates, as the only learner or as one rank; write the state and the memory."""
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.deterministic = True  # a spike more or less changes what follows
    game, device = load_game("connect4"), torch.device("cuda", 0)
    net = build_net(net_config(kind), game.planes_shape, game.num_actions, seed=3)
    stream = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for weight in net.parameters():
            if not weight.any():  # zero layers would let no gradient pass
                weight.copy_(0.1 * torch.randn(weight.shape, generator=stream))
    if size == 1:
        learner = Learner(game, net.to(device), config=CONFIG, seed=0)
    else:
        store = FileStore(str(folder / "store"))
        spec = RankSpec(store, 1, rank, size, silence_seconds=SILENCE_SECONDS)
        learner = PipelineLearner(
            game, net, config=CONFIG, seed=0, group=ProcessGroup(spec), device=device
        )
    del net
    losses = [learner.update(random_batch(game, n), n / UPDATES).total for n in range(UPDATES)]
    state = learner.state()
    if rank == 0:
        write_arrays(folder / "state", state)
    told = {
        "losses": losses,
        "used_mb": torch.cuda.max_memory_allocated(device) / 2**20,
        "reserved_mb": torch.cuda.max_memory_reserved(device) / 2**20,
    }
    (folder / f"{rank}.json").write_text(json.dumps(told))


def random_batch(game: Game, update: int) -> Batch:
    """Return rows that all learners draw alike."""
    rng = np.random.default_rng(update)
    legal = rng.random((ROWS, game.num_actions)) < 0.7
    legal[:, 0] = True
    policy = (legal * rng.uniform(0.1, 1, legal.shape)).astype(np.float32)
    arrays = (
        rng.integers(2, size=(ROWS, *game.planes_shape)).astype(np.float32),
        policy / policy.sum(axis=1, keepdims=True),
        legal,
        rng.dirichlet(np.ones(3), ROWS).astype(np.float32),
    )
    return Batch(*map(torch.from_numpy, arrays))
