"""Real ranks: processes that learn together, each for itself and then compared."""

import multiprocessing
import time
from dataclasses import dataclass
from multiprocessing.queues import Queue
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.distributed import FileStore, distributed_c10d

from rookery.base import generator, read_arrays, write_arrays
from rookery.games import Game, GameRecord, load_game
from rookery.learning import Learner, LearningConfig, RankLearner, RankSpec
from rookery.nets import NetConfig, build_net
from rookery.replay import ReplayConfig, Samples, Window

LIMIT = 120.0
TOGETHER = LearningConfig(
    method="distributed",
    batch_size=48,
    precision="float32",
    warmup_updates=3,
    learning_rate=1e-4,
    balance_every=0,
)
RESIDUAL = NetConfig(width=8, depth=1)
SPAWN = multiprocessing.get_context("spawn")


@dataclass(frozen=True)
class Job:
    """What a rank does."""

    config: LearningConfig
    rank: int
    size: int
    updates: int
    folder: Path
    delay: float = 0.0
    """Seconds that its net takes more for every row."""
    rows: int = 400
    net: NetConfig = RESIDUAL


def random_window(rules: Game, rows: int) -> Window:
    """Positions of random games with random targets."""
    rng, window = generator(0, "rank test"), Window(rules, ReplayConfig())
    records = [one_row(rules, random_moves(rules, rng), rng=rng) for _ in range(rows)]
    window.add(Samples.from_records(records, 0))
    return window


def random_moves(rules: Game, rng: np.random.Generator) -> list[int]:
    """Up to four legal moves."""
    moves: list[int] = []
    for _ in range(int(rng.integers(5))):
        moves.append(int(rng.choice(rules.legal_actions(rules.replay(moves)))))
    return moves


def one_row(rules: Game, moves: list[int], *, rng: np.random.Generator) -> GameRecord:
    """The position after `moves` with random targets."""
    states = rules.blank_states(1)
    states[0] = rules.replay(moves)
    legal = rules.legal_actions(states[0])
    return GameRecord(
        states=states,
        actions=np.array(legal[:1], np.int16),
        values=np.array([[rng.uniform(-0.5, 0.5), 0.3]], np.float32),
        policy_starts=np.array([0, len(legal)], np.int32),
        policy_actions=np.array(legal, np.int16),
        policy=rng.dirichlet(np.ones(len(legal))).astype(np.float16),
        result=int(rng.integers(-1, 2)),
        first_ply=0,
    )


def new_learner(
    kind: type[Learner], config: LearningConfig, shape: NetConfig = RESIDUAL
) -> Learner:
    """A learner of Connect Four with a small tower."""
    rules = load_game("connect4")
    net = build_net(shape, rules.planes_shape, rules.num_actions, seed=3)
    return kind(rules, net, config=config, seed=7)


def learn_alone(
    config: LearningConfig, updates: int, rows: int = 400, *, net: NetConfig = RESIDUAL
) -> Learner:
    """The same in one process."""
    learner = new_learner(Learner, config, net)
    learner.learn(random_window(learner.game, rows), updates, progress=0.2)
    return learner


def learn_together(
    config: LearningConfig, size: int, updates: int, folder: Path, **more: Any
) -> list[dict[str, Any]]:
    """The states that `size` ranks come to, and what each says of its stretch."""
    delays = more.pop("delays", [0.0] * size)
    answers: Queue[tuple[int, dict[str, Any]]] = SPAWN.Queue()
    jobs = [
        Job(config, rank, size, updates, folder, delay=delays[rank], **more) for rank in range(size)
    ]
    ranks = [SPAWN.Process(target=_learn, args=(job, answers), daemon=True) for job in jobs]
    for process in ranks:
        process.start()
    try:
        told = dict(answers.get(timeout=LIMIT) for _ in ranks)
    finally:
        for process in ranks:
            process.kill()
    assert not [rank["broken"] for rank in told.values() if "broken" in rank]
    return [{**told[rank], **_state(folder / str(rank))} for rank in range(size)]


def forbid_pickles() -> None:
    """Have torch refuse to unpickle what another rank of this process's group sends."""

    def refuse(*arguments: Any) -> None:
        raise AssertionError("a rank has sent a pickle")

    distributed_c10d._tensor_to_object = refuse


def _state(path: Path) -> dict[str, Any]:
    return {"state": read_arrays(path)[0]} if path.exists() else {}


def _learn(job: Job, answers: "Queue[tuple[int, dict[str, Any]]]") -> None:
    torch.set_num_threads(1)
    learner = new_learner(RankLearner, job.config, job.net)
    assert isinstance(learner, RankLearner)
    _slow_down(learner, job.delay)
    window = random_window(learner.game, job.rows)
    forbid_pickles()
    try:
        job.folder.mkdir(exist_ok=True)
        store = FileStore(str(job.folder / "store"))
        place = RankSpec(store, 1, job.rank, job.size, patience=20.0)
        learner.join(place, source=0)
        stretch = learner.learn_until(window, job.updates, progress=0.2)
        write_arrays(job.folder / str(job.rank), learner.state())
    except Exception as error:
        answers.put((job.rank, {"broken": repr(error)}))
        raise
    told = {
        "losses": vars(stretch.report.losses) if stretch.report else {},
        "rows": stretch.report.rows if stretch.report else 0,
        "sent": stretch.traffic.sent,
        "mine": np.asarray(learner._mine).tolist(),
    }
    answers.put((job.rank, told))
    time.sleep(LIMIT)  # until everybody is done


def _slow_down(learner: Learner, delay: float) -> None:
    if delay:
        stem: Any = learner.net.stem
        stem.register_forward_hook(lambda module, args, y: time.sleep(delay * len(args[0])))
