"""Ranks in separate processes that learn together; their states are compared."""

import multiprocessing
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.distributed import FileStore, distributed_c10d  # type: ignore[attr-defined]

from rookery.base import generator, read_arrays, write_arrays
from rookery.games import Game, load_game
from rookery.learning import Learner, LearningConfig, RankLearner, RankSpec
from rookery.nets import NetConfig, build_net
from rookery.replay import ReplayConfig, Rows, Window, concatenate, deal_lanes, new_rows
from tcp_bytes import tcp_bytes

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
    """Additional seconds per row that its network takes."""
    rows: int = 400
    net: NetConfig = RESIDUAL
    is_split: bool = False
    """Whether it holds only its part of the window."""


def random_window(game: Game, rows: int, lanes: Sequence[int] = ()) -> Window:
    """Return positions of random games with random targets, or a part of them."""
    rng, window = generator(0, "rank test"), Window(game, ReplayConfig(), lanes=lanes)
    positions = [random_moves(game, rng) for _ in range(rows)]
    window.add(concatenate([one_row(game, moves, rng=rng) for moves in positions]))
    return window


def random_moves(game: Game, rng: np.random.Generator) -> list[int]:
    """Return up to four legal moves."""
    moves: list[int] = []
    for _ in range(int(rng.integers(5))):
        moves.append(int(rng.choice(game.legal_actions(game.replay(moves)))))
    return moves


def one_row(game: Game, moves: list[int], *, rng: np.random.Generator) -> Rows:
    """Return the position after `moves` with random targets."""
    rows, state = new_rows(game, 1), game.replay(moves)
    legal = game.legal_actions(state)
    rows.states[0], rows.num_legal[0], rows.moves[0] = state, len(legal), legal[0]
    rows.legal[0, : len(legal)] = legal
    rows.policy[0, : len(legal)] = 32767 * rng.dirichlet(np.ones(len(legal)))
    rows.values[0], rows.draws[0] = rng.uniform(-0.5, 0.5), 0.3
    rows.results[0] = rng.integers(-1, 2)
    return rows


def new_learner(
    kind: type[Learner], config: LearningConfig, shape: NetConfig = RESIDUAL
) -> Learner:
    """Return a learner of Connect Four with a small network."""
    game = load_game("connect4")
    net = build_net(shape, game.planes_shape, game.num_actions, seed=3)
    return kind(game, net, config=config, seed=7)


def learn_alone(
    config: LearningConfig, updates: int, rows: int = 400, *, net: NetConfig = RESIDUAL
) -> Learner:
    """Return a single learner after `updates` updates."""
    learner = new_learner(Learner, config, net)
    learner.learn(random_window(learner.game, rows), updates, progress=0.2)
    return learner


@dataclass(frozen=True)
class RankProcess:
    """A process that learns as one rank, job after job: to start one takes seconds."""

    process: BaseProcess
    connection: Connection

    @classmethod
    def start(cls) -> "RankProcess":
        ours, theirs = SPAWN.Pipe()
        process = SPAWN.Process(target=_learn_on_request, args=(theirs,), daemon=True)
        process.start()
        theirs.close()
        return cls(process, ours)

    def answer(self) -> dict[str, Any]:
        assert self.connection.poll(LIMIT), "a rank does not answer"
        answer: dict[str, Any] = self.connection.recv()
        return answer


RANKS: list[RankProcess] = []


def learn_together(
    config: LearningConfig, size: int, updates: int, folder: Path, **more: Any
) -> list[dict[str, Any]]:
    """Return the final states of `size` ranks, with their losses, rows and traffic."""
    delays = more.pop("delays", [0.0] * size)
    RANKS.extend(RankProcess.start() for _ in range(len(RANKS), size))
    ranks = RANKS[:size]
    try:
        for number, rank in enumerate(ranks):
            rank.connection.send(
                Job(config, number, size, updates, folder, delay=delays[number], **more)
            )
        told = [rank.answer() for rank in ranks]
        assert not [answer["broken"] for answer in told if "broken" in answer]
        for rank in ranks:
            rank.connection.send("leave")
    except BaseException:
        end_ranks()
        raise
    return [
        {**answer, "state": read_arrays(folder / str(number))[0]}
        for number, answer in enumerate(told)
    ]


def end_ranks() -> None:
    """End the processes of all ranks."""
    for rank in RANKS:
        rank.process.kill()
        rank.process.join()
    RANKS.clear()


def forbid_pickles() -> None:
    """Make torch refuse to unpickle what another rank sends."""

    def refuse(*arguments: Any) -> None:
        raise AssertionError("a rank has sent a pickle")

    distributed_c10d._tensor_to_object = refuse


def _learn_on_request(connection: Connection) -> None:
    torch.set_num_threads(1)
    forbid_pickles()
    while True:
        job = connection.recv()
        learner = new_learner(RankLearner, job.config, job.net)
        assert isinstance(learner, RankLearner)
        try:
            connection.send(_learn(job, learner))
            connection.recv()  # until all ranks are done
            learner.leave()
        except Exception as error:
            connection.send({"broken": repr(error)})
            raise


def _learn(job: Job, learner: RankLearner) -> dict[str, Any]:
    _slow_down(learner, job.delay)
    lanes = deal_lanes(range(job.size), job.size)[job.rank] if job.is_split else ()
    window = random_window(learner.game, job.rows, lanes)
    job.folder.mkdir(exist_ok=True)
    store = FileStore(str(job.folder / "store"))
    spec = RankSpec(store, 1, job.rank, job.size, silence_seconds=20.0)
    learner.join(spec, source=0)
    before = tcp_bytes()
    result = learner.learn_until(window, job.updates, progress=0.2)
    wire = [after - earlier for after, earlier in zip(tcp_bytes(), before, strict=True)]
    write_arrays(job.folder / str(job.rank), learner.state())
    return {
        "losses": vars(result.report.losses) if result.report else {},
        "rows": result.report.rows if result.report else 0,
        "sent": result.traffic.sent,
        "received": result.traffic.received,
        "wire": wire,
        "offsets": learner.offsets.tolist(),
        "rows_held": window.rows_held,
        "gradients": type(learner._gradients).__name__,
    }


def _slow_down(learner: Learner, delay: float) -> None:
    if delay:
        stem: Any = learner.net.stem
        stem.register_forward_hook(lambda module, args, y: time.sleep(delay * len(args[0])))
