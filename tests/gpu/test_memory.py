"""Too little memory on a real GPU: everything continues in smaller parts, and says so.

The memory of this process, or of all processes of a command, is limited by
`torch.cuda.set_per_process_memory_fraction`. Run with `pytest -m gpu -s tests/gpu/test_memory.py`.
"""

import gc
import json
import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import rookery
from rookery.api import read_net
from rookery.arena import SearchPlayer
from rookery.games import load_game
from rookery.interface.uci.command_queue import CommandQueue
from rookery.interface.uci.engine import Engine
from rookery.learning import GpuLearner, LearningConfig
from rookery.nets import GpuEvaluator, NetConfig, build_net
from rookery.replay import ReplayConfig, Window, new_rows
from rookery.search import SearchConfig
from rookery.training import RunFolder, Stats, apply, recipe_for, train
from rookery.training.store.checkpoint import Checkpoint

pytestmark = pytest.mark.gpu
RULES = load_game("connect4")
MB = 2**20
SMALL_NET = NetConfig(width=32, depth=2)
LIMIT = "LIMIT_GPU_MB"
HOOK = f"""
import os

if os.environ.get("{LIMIT}"):
    import torch

    def limit():
        for index in range(torch.cuda.device_count()):
            total = torch.cuda.get_device_properties(index).total_memory
            share = int(os.environ["{LIMIT}"]) * 2**20 / total
            torch.cuda.set_per_process_memory_fraction(min(1.0, share), index)

    torch.cuda._lazy_call(limit)  # workers are forked: the first use of the GPU is theirs
"""
"""A `sitecustomize.py`, which every Python process runs when it starts."""
COMMAND_SECONDS = 400
LIBRARIES_MB = 256
"""Workspaces of cublas and cudnn, which a new process needs, too."""


@pytest.fixture
def device() -> Iterator[torch.device]:
    if not torch.cuda.is_available():
        pytest.skip("there is no GPU")
    release()
    yield torch.device("cuda", 0)
    release()


def release() -> None:
    gc.collect()
    torch.cuda.empty_cache()


@contextmanager
def limited(device: torch.device, megabytes: float) -> Iterator[None]:
    """Allow this process some memory beyond what it holds now."""
    release()
    total = torch.cuda.mem_get_info(device)[1]
    allowed = torch.cuda.memory_reserved(device) + megabytes * MB
    torch.cuda.set_per_process_memory_fraction(min(1.0, allowed / total), device)
    try:
        yield
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0, device)


def needed_mb(device: torch.device, work: Callable[[], object]) -> float:
    """Return how much more memory is reserved while `work` runs."""
    release()
    torch.cuda.reset_peak_memory_stats(device)
    before = torch.cuda.memory_reserved(device)
    work()
    torch.cuda.synchronize(device)
    return (torch.cuda.max_memory_reserved(device) - before) / MB


def notes_in(caplog: pytest.LogCaptureFixture, what: str) -> list[str]:
    found = [record.getMessage() for record in caplog.records]
    return [note for note in found if f"{what} do not fit into the GPU's memory" in note]


def new_net(config: NetConfig = SMALL_NET) -> torch.nn.Module:
    net = build_net(config, RULES.planes_shape, RULES.num_actions, seed=1)
    stream = torch.Generator().manual_seed(1)
    for head in ("policy.last.weight", "value.last.weight"):
        torch.nn.init.normal_(net.get_parameter(head), std=0.1, generator=stream)
    return net


def test_positions_are_evaluated_in_parts(
    device: torch.device, caplog: pytest.LogCaptureFixture
) -> None:
    rng = np.random.default_rng(1)
    planes = (rng.random((2**15, *RULES.planes_shape)) < 0.3).astype(np.float32)
    net = new_net(NetConfig(width=128, depth=2))

    def evaluator() -> GpuEvaluator:
        made = GpuEvaluator(net, RULES.planes_shape, device=device, backend="float16")
        made(planes[:32])
        return made

    expected = evaluator()(planes)  # cudnn tries algorithms, which need more memory
    limited_one = evaluator()
    needed = needed_mb(device, lambda: evaluator()(planes))
    with limited(device, needed / 2), caplog.at_level(logging.WARNING):
        found = limited_one(planes)
    print(f"positions: {needed:.0f} MB needed, {needed / 2:.0f} MB allowed")
    assert notes_in(caplog, "positions")
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, atol=0.02)


def test_games_are_searched_in_parts(
    device: torch.device, caplog: pytest.LogCaptureFixture
) -> None:
    evaluator = GpuEvaluator(new_net(), RULES.planes_shape, device=device)
    states = RULES.new_states(4096)
    needed = needed_mb(device, lambda: player(evaluator, 200).choose(states))
    with limited(device, needed / 2), caplog.at_level(logging.WARNING):
        found = player(evaluator, 200).choose(states)
    print(f"games: {needed:.0f} MB needed, {needed / 2:.0f} MB allowed")
    assert notes_in(caplog, "games")
    assert len(found) == 4096 and ((found >= 0) & (found < RULES.num_actions)).all()


def player(evaluator: GpuEvaluator, simulations: int) -> SearchPlayer:
    return SearchPlayer(
        RULES, evaluator, config=SearchConfig(), simulations=simulations, seed=1, name="net"
    )


def random_window(device: torch.device, num_rows: int) -> Window:
    window = Window(RULES, ReplayConfig(window_min=num_rows, window_max=num_rows), device)
    rows = new_rows(RULES, num_rows)
    rows.states[:] = RULES.new_states(num_rows)
    rows.results[:], rows.num_legal[:], rows.policy[:] = 1, RULES.num_actions, 1
    rows.legal[:] = range(RULES.num_actions)
    window.add(rows)
    return window


def test_a_learner_splits_its_batch_and_makes_every_update(device: torch.device) -> None:
    window, updates = random_window(device, 50_000), 8
    config = LearningConfig(batch_size=16384, precision="float32", warmup_updates=1)
    told: list[int] = []

    def learner(parts: int = 1) -> GpuLearner:
        return GpuLearner(
            RULES,
            new_net(NetConfig(width=64, depth=4)).to(device),
            config=replace(config, accumulate=parts),
            seed=1,
            on_smaller_parts=lambda config: told.append(config.accumulate),
        )

    def learn(learner: GpuLearner) -> Any:
        learner.learn(window, updates, progress=0.2)
        return learner.drain()

    learn(learner())
    needed = needed_mb(device, lambda: learn(learner()))
    assert not told
    other = learner()
    with limited(device, needed / 2):
        report = learn(other)
        print(f"learner: {needed:.0f} MB needed, {needed / 2:.0f} MB allowed, parts {told}")
        assert told and told == [2**n for n in range(1, len(told) + 1)]
        assert told[-1] <= 8  # parts no smaller than the memory requires
        assert report.updates == updates and report.rows == updates * config.batch_size
        found = other.state()
    same = learner(told[-1])
    learn(same)
    expected = same.state()
    assert found["updates"] == expected["updates"] == updates
    weights = [name for name, _ in other.net.named_parameters()]
    for name in (f"net.{weight}" for weight in weights):
        assert np.abs(found[name] - expected[name]).max() < 0.005


def test_an_engine_answers_when_only_the_smallest_batch_fits(
    device: torch.device, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    config = apply(recipe_for("chess", on_gpu=True), ["net.width=256", "net.depth=2"])
    config = apply(config, ["run.iterations=1", *SMALL_SELF_PLAY])
    train(RunFolder.create(tmp_path / "run", config), lambda progress: None)
    net = read_net(str(tmp_path / "run"))
    assert net is not None
    spec, said = net.player(inference="auto", devices="cuda:0"), list[str]()
    evaluator = spec.evaluator()
    evaluator(np.zeros((1, *net.game.planes_shape), np.float32))

    def commands() -> Iterator[str]:
        yield from ("setoption name Batch value 1024", "setoption name Hash value 64", "isready")
        yield from ("position startpos moves e2e4", "go nodes 3000")
        while not any(line.startswith(("bestmove", "info string")) for line in said):
            time.sleep(0.01)  # `quit` would stop the search

    with limited(device, 1), caplog.at_level(logging.WARNING):
        Engine(net, spec, commands=CommandQueue(commands(), lambda: None), say=said.append).run()
    print(f"uci: {said[-1]}, {notes_in(caplog, 'positions')}")
    assert said[0] == "readyok" and said[-1].startswith("bestmove ")
    assert notes_in(caplog, "positions")


SMALL_SELF_PLAY = [
    "run.devices=cuda:0",
    "run.minutes=0",
    "run.strength_every=0",
    "run.elo_games=0",
    "selfplay.games=64",
    "selfplay.simulations=2",
    "selfplay.max_plies=20",
    "replay.window_min=2000",
    "replay.window_max=2000",
    "learning.batch_size=64",
]


class Commands:
    """Runs commands whose processes may use `megabytes` of GPU memory each."""

    def __init__(self, folder: Path) -> None:
        (folder / "sitecustomize.py").write_text(HOOK)
        source = str(Path(rookery.__file__).parents[1])
        paths = [str(folder), source, os.environ.get("PYTHONPATH", "")]
        self._environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}

    def __call__(self, megabytes: float, *words: object) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-m", "rookery", *map(str, words)],
            env={**self._environment, LIMIT: str(int(megabytes))},
            text=True,
            capture_output=True,
            timeout=COMMAND_SECONDS,
        )
        print(f"{' '.join(map(str, words))}: {megabytes:.0f} MB, exit code {done.returncode}")
        print(done.stdout[-2000:], done.stderr[-2000:])
        return done


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> Commands:
    return Commands(tmp_path_factory.mktemp("hook"))


LARGE_BATCHES = [
    "run.minutes=0",
    "run.iterations=4",
    "run.checkpoint_every=2",
    "run.strength_every=0",
    "run.elo_games=0",
    "run.moves=16",
    "net.width=64",
    "net.depth=4",
    "selfplay.games=4096",
    "selfplay.simulations=4",
    "replay.window_min=50000",
    "replay.window_max=100000",
    "learning.batch_size=32768",
    "learning.reuse=4",
    "learning.precision=float32",
]
"""Updates of at least 3 GB in each of two trainers, self-play in a few 100 MB."""
BATCH_MB = 1000
MANY_GAMES = [*LARGE_BATCHES, "learning.batch_size=256", "learning.reuse=0.2", "run.moves=4"]


def train_in(
    command: Commands, path: Path, megabytes: float, settings: list[str]
) -> list[dict[str, Any]]:
    """Return the lines of the statistics of a run that must end well."""
    chosen = [word for setting in settings for word in ("--set", setting)]
    done = command(megabytes, "train", "connect4", "--run", path, "--devices", "cuda:0", *chosen)
    assert done.returncode == 0
    return [*Stats(path).lines()]


def check_whole(path: Path, lines: list[dict[str, Any]], iterations: int) -> None:
    """Check that no iteration, row or update is missing."""
    found = [line for line in lines if line["kind"] == "iteration"]
    assert [line["iteration"] for line in found] == list(range(1, iterations + 1))
    assert [line["kind"] for line in lines].count("finished") == 1
    learned = [line["learning"] for line in found if line["learning"]]
    batch_size = RunFolder(path).config.learning.batch_size
    assert learned and all(each["rows"] >= each["updates"] * batch_size for each in learned)
    saved = Checkpoint.load(path)
    assert saved is not None and saved.position.iteration == iterations
    assert int(saved.learner["updates"][0]) >= sum(each["updates"] for each in learned) > 0
    made = [line["window"]["rows_made"] for line in found]
    assert made == sorted(made) and made[-1] > 0
    assert (path / "weights" / f"{iterations:06}.safetensors").exists()


def check_noted(lines: list[dict[str, Any]], what: str) -> None:
    """Check that the fallback was announced, and counted in the statistics."""
    notes = [line["note"] for line in lines if line["kind"] == "note" and what in line["note"]]
    counts = [line["fallbacks"] for line in lines if line["kind"] == "iteration"]
    assert notes and counts[-1]["memory"] >= len(notes)
    assert counts[-1]["method"] == counts[-1]["workers"] == 0


@pytest.mark.parametrize(
    "more",
    [
        pytest.param([], id="single"),
        pytest.param(["run.actors=1"], id="beside an actor"),
        pytest.param(["learning.method=distributed", "learning.workers=2"], id="trainers"),
        pytest.param(["learning.method=data_parallel", "learning.workers=2"], id="apart"),
    ],
)
def test_a_run_whose_batches_do_not_fit_learns_in_parts(
    device: torch.device, tmp_path: Path, command: Commands, more: list[str]
) -> None:
    path = tmp_path / "run"
    lines = train_in(command, path, BATCH_MB, [*LARGE_BATCHES, *more])
    check_noted(lines, "a batch does not fit into the GPU's memory; learning in")
    check_whole(path, lines, 4)
    parts = RunFolder(path).config.learning.accumulate
    assert 1 < parts <= 64
    resumed = command(BATCH_MB, "resume", path, "--iterations", 6, "--devices", "cuda:0")
    assert resumed.returncode == 0
    later = [line for line in Stats(path).lines() if line["kind"] == "iteration"][4:]
    assert [line["iteration"] for line in later] == [5, 6]
    assert RunFolder(path).config.learning.accumulate == parts
    assert later[-1]["fallbacks"]["memory"] == 0  # the smaller parts were remembered


@pytest.fixture(scope="module")
def games_mb() -> float:
    """Memory that does not suffice for 32,768 games of MANY_GAMES, but for 8,192."""
    from rookery.training.parts import new_self_player

    if not torch.cuda.is_available():
        pytest.skip("there is no GPU")
    device, config = torch.device("cuda", 0), apply(recipe_for("connect4", on_gpu=True), MANY_GAMES)

    def needed(games: int) -> float:
        some = apply(config, [f"selfplay.games={games}"])
        net = build_net(config.net, RULES.planes_shape, RULES.num_actions).to(device)
        options: dict[str, Any] = {"device": device, "backend": "auto", "seed": 1}
        return needed_mb(device, lambda: new_self_player(RULES, some, net, **options))

    many, few = needed(32768), needed(8192)
    print(f"self-play: {many:.0f} MB for 32,768 games, {few:.0f} MB for 8,192")
    assert many > 2 * few
    return LIBRARIES_MB + (many + few) / 2


@pytest.mark.parametrize(
    ("more", "what"),
    [
        pytest.param(
            ["selfplay.games=65536"], "65536 games do not fit into the GPU's memory", id="single"
        ),
        pytest.param(
            ["selfplay.games=131072", "run.actors=2"], "has no memory for 65536 games", id="actors"
        ),
    ],
)
def test_games_that_do_not_fit_are_fewer(
    device: torch.device,
    tmp_path: Path,
    command: Commands,
    games_mb: float,
    more: list[str],
    what: str,
) -> None:
    path = tmp_path / "run"
    lines = train_in(command, path, games_mb, [*MANY_GAMES, *more])
    check_noted(lines, what)
    check_whole(path, lines, 4)
    assert not [line for line in lines if "restarting" in line.get("note", "")]


@pytest.mark.parametrize(
    "more",
    [
        pytest.param([], id="single"),
        pytest.param(["learning.method=distributed", "learning.workers=2"], id="trainers"),
    ],
)
def test_without_the_fallback_it_is_an_error_in_one_line(
    device: torch.device, tmp_path: Path, command: Commands, more: list[str]
) -> None:
    settings = [*LARGE_BATCHES, *more, "run.fallback=none"]
    chosen = [word for setting in settings for word in ("--set", setting)]
    path = tmp_path / "run"
    done = command(BATCH_MB, "train", "connect4", "--run", path, "--devices", "cuda:0", *chosen)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    errors = [line for line in done.stderr.splitlines() if line.startswith("rookery: ")]
    assert len(errors) == 1
    assert "does not fit into the GPU's memory" in errors[0]
    assert "add memory to run.fallback" in errors[0]


@pytest.fixture(scope="module")
def small_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not torch.cuda.is_available():
        pytest.skip("there is no GPU")
    settings = ["run.iterations=2", "net.width=32", "net.depth=2", *SMALL_SELF_PLAY]
    config = apply(recipe_for("connect4", on_gpu=True), settings)
    folder = RunFolder.create(tmp_path_factory.mktemp("small") / "run", config)
    train(folder, lambda progress: None)
    return folder.path


def tree_limit(device: torch.device, path: Path, simulations: int) -> float:
    """Return memory that suffices for the trees of some 100 games."""
    net = RunFolder(path).load_weights().build()

    def needed(games: int) -> float:
        def search() -> None:
            evaluator = GpuEvaluator(net, RULES.planes_shape, device=device)
            player(evaluator, simulations).choose(RULES.new_states(games))

        return needed_mb(device, search)

    needed(512)  # cudnn tries algorithms, which need more memory
    many, few = needed(512), needed(128)
    print(f"{simulations} simulations: {many:.0f} MB for 512 games, {few:.0f} MB for 128")
    assert many > 1.5 * few
    return LIBRARIES_MB + (many + few) / 2


def test_eval_measures_every_position(
    device: torch.device, command: Commands, small_run: Path
) -> None:
    megabytes = tree_limit(device, small_run, 2000)
    done = command(
        megabytes, "eval", small_run, "--simulations", 2000, "--devices", "cuda:0", "--json"
    )
    assert done.returncode == 0 and "games do not fit into the GPU's memory" in done.stderr
    total = json.loads(done.stdout)["strength"]["2000"]["rows"][-1]
    assert total["label"] == "total" and total["number"] > 2000


def test_match_plays_every_game(device: torch.device, command: Commands, small_run: Path) -> None:
    megabytes, name = tree_limit(device, small_run, 2000), f"{small_run}:2000"
    words = ("match", name, name, "--games", 1024, "--devices", "cuda:0", "--json")
    done = command(megabytes, *words)
    assert done.returncode == 0 and "games do not fit into the GPU's memory" in done.stderr
    total = json.loads(done.stdout)["total"]
    assert sum(total[name] for name in ("wins", "draws", "losses")) == 1024


def test_rate_plays_every_game(
    device: torch.device, command: Commands, small_run: Path, tmp_path: Path
) -> None:
    players = (small_run, "--rungs", "random", "--simulations", 2000, "--devices", "cuda:0")
    megabytes = tree_limit(device, small_run, 2000)
    for halving in range(6):  # how much a process needs besides its trees is not known
        file = tmp_path / f"games-{halving}"
        games = ("--games", 1024, "--at-once", 256, "--games-file", file)
        done = command(megabytes / 2**halving, "rate", *players, *games, "--json")
        assert done.returncode == 0, f"{megabytes / 2**halving:.0f} MB: {done.stderr}"
        assert len(file.read_text().splitlines()) == 1024
        if "games do not fit into the GPU's memory" in done.stderr:
            return
    pytest.fail(f"all games fitted into {megabytes / 2**halving:.0f} MB")
