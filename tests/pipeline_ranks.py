"""What the ranks of a pipeline do in tests, in a module that new processes can import."""

import gc
import json
import os
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import distributed, nn
from torch.distributed import DebugLevel, FileStore, set_debug_level  # type: ignore[attr-defined]

from rank_processes import forbid_pickles
from rookery.base import read_arrays, write_arrays
from rookery.games import Game, load_game
from rookery.learning import GroupFailed, Learner, LearningConfig, ProcessGroup, RankSpec
from rookery.learning.pipeline.gradients import PipelineGradients, clip_gradients
from rookery.learning.pipeline.rank import PipelineLearner
from rookery.learning.pipeline.transfer import gather_arrays, scatter_arrays
from rookery.nets import NetConfig, build_net, split_net
from rookery.replay import Batch

CPU = torch.device("cpu")
ROWS = 24
CLIP_NORM = 0.1  # smaller than every gradient here
SILENCE_SECONDS = 30.0


@dataclass(frozen=True)
class Case:
    """A network over `ranks` ranks, and its batches in `accumulate` parts."""

    ranks: int
    depth: int
    accumulate: int
    precision: str = "float32"
    num_updates: int = 20
    freeze: str = ""
    kind: str = "resnet"

    @property
    def halfway(self) -> int:
        return self.num_updates // 2

    @property
    def name(self) -> str:
        return "-".join(str(value) for value in asdict(self).values())

    @property
    def config(self) -> LearningConfig:
        return LearningConfig(
            batch_size=ROWS,
            accumulate=self.accumulate,
            precision=self.precision,
            warmup_updates=3,
            clip_norm=CLIP_NORM,
            freeze=self.freeze,
        )


CASES = (
    Case(ranks=2, depth=2, accumulate=4),
    Case(ranks=2, depth=3, accumulate=1),
    Case(ranks=2, depth=1, accumulate=3),
    Case(ranks=2, depth=2, accumulate=2, precision="bfloat16", num_updates=4),
    Case(ranks=2, depth=1, accumulate=2, num_updates=8, freeze="tower"),
    Case(ranks=2, depth=2, accumulate=4, kind="spiking"),
    Case(ranks=3, depth=2, accumulate=4),
    Case(ranks=3, depth=4, accumulate=2),
)


def whole_net(game: Game, case: Case) -> nn.Module:
    """Build a network; zero layers are filled, since the tower would have no gradient."""
    config = NetConfig(case.kind, width=8, depth=case.depth, value_width=8)
    net = build_net(config, game.planes_shape, game.num_actions, seed=3)
    stream = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for weight in net.parameters():
            if not weight.any():
                weight.copy_(0.3 * torch.randn(weight.shape, generator=stream))
    return net


def random_batch(game: Game, update: int) -> Batch:
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


def updates(learner: Learner, numbers: range) -> np.ndarray:
    """Make the updates; return their losses as rows."""
    reports = [learner.update(random_batch(learner.game, n), n / 20) for n in numbers]
    return np.array([list(asdict(report).values()) for report in reports])


def gradients(net: nn.Module) -> dict[str, np.ndarray]:
    found = {}
    for name, weight in net.named_parameters():
        assert (weight.grad is not None) == weight.requires_grad
        if weight.grad is not None:
            found[name] = weight.grad.numpy().copy()
    return found


def learn_all(rank: int, size: int, folder: Path) -> None:
    """Run the cases of `size` ranks, then lose a rank."""
    torch.set_num_threads(1)
    forbid_pickles()
    set_debug_level(DebugLevel.DETAIL)  # torch checks the shapes and strides that stages exchange
    store = FileStore(str(folder / "store"))
    group = ProcessGroup(RankSpec(store, 1, rank, size, silence_seconds=SILENCE_SECONDS))
    for case in CASES:
        if case.ranks == size:
            learn(case, folder, group)
    lose_a_rank(folder, group)


def learn(case: Case, folder: Path, group: ProcessGroup) -> None:
    """Learn, write all results, and continue from the middle with new learners."""
    game = load_game("tictactoe")
    learner = new_learner(case, group)
    weights = held_weights()
    losses = updates(learner, range(1))
    first = gather_arrays(gradients(learner.net), group=group)
    losses = np.concatenate([losses, updates(learner, range(1, case.halfway))])
    middle = folder / f"{case.name}-middle"
    write_whole(middle, learner.state())
    losses = np.concatenate([losses, updates(learner, range(case.halfway, case.num_updates))])
    other = new_learner(case, group)
    other.restore(scattered(case, read_arrays(middle)[0] if group.rank == 0 else {}, group))
    updates(other, range(case.halfway, case.num_updates))
    ends, others, play = learner.state(), other.state(), learner.play_arrays()
    raw, norm = raw_gradients(game, case, group)
    write_whole(folder / f"{case.name}-end", ends)
    write_whole(folder / f"{case.name}-other", others)
    write_whole(folder / f"{case.name}-play", play)
    write_whole(folder / f"{case.name}-clipped", first)
    write_whole(folder / f"{case.name}-raw", raw)
    told = {"losses": losses.tolist(), "weights": weights, "norm": norm}
    (folder / f"{case.name}-{group.rank}.json").write_text(json.dumps(told))


def new_learner(case: Case, group: ProcessGroup) -> PipelineLearner:
    game = load_game("tictactoe")
    net = whole_net(game, case)
    return PipelineLearner(game, net, config=case.config, seed=0, group=group, device=CPU)


def scattered(
    case: Case, whole: dict[str, np.ndarray], group: ProcessGroup
) -> dict[str, np.ndarray]:
    """Return this rank's part of the whole state that the root has."""
    net = whole_net(load_game("tictactoe"), case)
    parts = [split_net(net, rank, num_parts=group.size) for rank in range(group.size)]
    return scatter_arrays(whole, parts, group=group)


def held_weights() -> int:
    """Return the number of trainable parameters in this process."""
    gc.collect()
    weights = [thing for thing in gc.get_objects() if isinstance(thing, nn.Parameter)]
    return sum(weight.numel() for weight in weights if weight.requires_grad)


def raw_gradients(
    game: Game, case: Case, group: ProcessGroup
) -> tuple[dict[str, np.ndarray], float]:
    """Return gradients before clipping, and the norm that clipping returns."""
    part = split_net(whole_net(game, case), group.rank, num_parts=group.size)
    method = PipelineGradients(
        part,
        planes_shape=game.planes_shape,
        num_actions=game.num_actions,
        group=group,
        config=replace(case.config, value_weight=0.5),
        precision=case.precision,
    )
    method.gradients(random_batch(game, 0))
    raw = gather_arrays(gradients(part), group=group)
    return raw, clip_gradients(part, CLIP_NORM, group=group).item()


def write_whole(path: Path, arrays: dict[str, np.ndarray]) -> None:
    """Write at the root; the other ranks have nothing, and wait for it."""
    is_first = distributed.get_rank() == 0
    assert bool(arrays) == is_first
    if is_first:
        write_arrays(path, arrays)
    distributed.barrier()


def lose_a_rank(folder: Path, group: ProcessGroup) -> None:
    """End the last rank; write how long the others took to notice."""
    learner = new_learner(next(c for c in CASES if c.ranks == group.size), group)
    updates(learner, range(1))
    if group.rank == group.size - 1:
        os._exit(0)
    begin = time.monotonic()
    try:
        updates(learner, range(1, 2))
    except GroupFailed:
        (folder / f"lost-{group.rank}").write_text(str(time.monotonic() - begin))
    os._exit(0)
