"""Search, inference and training on a GPU: run with `pytest -m gpu tests/gpu`."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from devices import Linear
from rookery.games import load_game
from rookery.nets import Ensemble, GpuEvaluator, NetConfig, build_net
from rookery.search import SearchConfig, new_search
from rookery.selfplay import GpuSelfPlay, SelfPlayConfig
from rookery.training import Progress, RunFolder, Stats, apply, recipe_for, train
from rookery.training.needed_kernels import kernels_of_run
from worker_processes import worker_processes

pytestmark = pytest.mark.gpu
RULES = load_game("connect4")
OPENINGS = ["", "4", "44", "445", "1122", "123456", "4433", "112233"]


@pytest.fixture
def device() -> torch.device:
    if not torch.cuda.is_available():
        pytest.skip("there is no GPU")
    return torch.device("cuda", 0)


@pytest.mark.parametrize("proof_nodes", [0, 50])
@pytest.mark.parametrize("method", ["gumbel", "puct"])
def test_searches_on_both_devices_agree(
    method: str, proof_nodes: int, device: torch.device
) -> None:
    linear = Linear(RULES.planes_shape, RULES.num_actions)
    options: dict[str, Any] = {
        "config": SearchConfig(method=method, proof_nodes=proof_nodes),
        "num_games": 256,
        "max_simulations": 48,
        "explore": True,
        "seed": 5,
    }
    on_cpu = new_search(RULES, linear, **options)
    roots = [RULES.position(OPENINGS[g % len(OPENINGS)]) for g in range(256)]
    on_cpu.roots[:] = np.array(roots, on_cpu.roots.dtype)
    expected = on_cpu.run(48)
    on_gpu = new_search(RULES, linear.on(device), **options)
    on_gpu.roots[:] = on_cpu.roots
    found = on_gpu.run(48)
    assert (found.visits == expected.visits).all(axis=1).mean() > 0.98  # rounding can break ties
    assert (found.actions == expected.actions).mean() > 0.98
    same = (found.visits == expected.visits).all(axis=1)
    np.testing.assert_allclose(found.policy[same], expected.policy[same], atol=1e-4)


@pytest.mark.parametrize("backend", ["fused-float16", "fused-bfloat16", "float16", "bfloat16"])
def test_every_method_agrees_with_float32(backend: str, device: torch.device) -> None:
    net = build_net(NetConfig(width=64, depth=4), RULES.planes_shape, RULES.num_actions)
    for head in ("policy.last.weight", "value.last.weight"):
        torch.nn.init.normal_(net.get_parameter(head), std=0.1)
    planes = (np.random.default_rng(1).random((300, *RULES.planes_shape)) < 0.3).astype(np.float32)
    expected = GpuEvaluator(net, RULES.planes_shape, device=device, backend="float32")(planes)
    found = GpuEvaluator(net, RULES.planes_shape, device=device, backend=backend)(planes)
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, atol=0.02)


def test_new_weights_reach_the_evaluator(device: torch.device) -> None:
    nets = [build_net(NetConfig(), RULES.planes_shape, RULES.num_actions, seed=s) for s in (1, 2)]
    for net in nets:
        torch.nn.init.normal_(net.get_parameter("policy.last.weight"), std=0.1)
    planes = np.ones((1, *RULES.planes_shape), np.float32)
    evaluator = GpuEvaluator(nets[0], RULES.planes_shape, device=device)
    before, _ = evaluator(planes)
    evaluator.load(nets[1])
    after, _ = evaluator(planes)
    fresh, _ = GpuEvaluator(nets[1], RULES.planes_shape, device=device)(planes)
    assert not np.allclose(before, after)
    np.testing.assert_allclose(after, fresh, atol=1e-3)


def test_memory_does_not_grow_over_a_thousand_moves(device: torch.device) -> None:
    net = build_net(NetConfig(), RULES.planes_shape, RULES.num_actions)
    evaluator = GpuEvaluator(net, RULES.planes_shape, device=device)
    config = SelfPlayConfig(games=128, simulations="8")
    selfplay = GpuSelfPlay(RULES, evaluator, config=config, search=SearchConfig(), moves=20, seed=1)
    used = []
    for _ in range(50):
        selfplay.finish(selfplay.start(20, progress=0.0, iteration=0))
        evaluator.load(net)
        used.append(torch.cuda.mem_get_info(device)[0])
    assert used[-1] >= used[5]  # free memory


SHORT = [
    "run.devices=cuda:0",
    "run.minutes=0",
    "run.iterations=12",
    "run.checkpoint_every=4",
    "run.strength_every=4",
    "run.strength_simulations=0",
    "selfplay.games=256",
    "selfplay.simulations=16",
    "learning.batch_size=256",
    "net.width=32",
    "net.depth=2",
]


def test_all_kernels_of_a_run_are_found_without_it(tmp_path: Path, device: torch.device) -> None:
    config = apply(
        recipe_for("connect4", "connect4-gpu"),
        ["run.devices=cuda:0", "run.iterations=4", "run.strength_every=4", "run.moves=50",
         "net.width=32", "net.depth=2", "selfplay.games=64", "selfplay.simulations=8",
         "learning.batch_size=64", "replay.window_max=300_000"],
    )  # fmt: skip
    kernels = [task.args[1] for task in kernels_of_run(RULES, config, device)]  # type: ignore[attr-defined]
    for compile_kernel in kernels_of_run(RULES, config, device):
        compile_kernel()
    before = [set(kernel.overloads) for kernel in kernels]
    train(RunFolder.create(tmp_path / "run", config), lambda progress: None)
    assert [set(kernel.overloads) for kernel in kernels] == before


def lines(folder: RunFolder, kind: str) -> list[dict[str, Any]]:
    return [line for line in Stats(folder.path).lines() if line["kind"] == kind]


@pytest.mark.parametrize(
    "more",
    [
        (),
        ("run.actors=2",),
        ("net.members=2",),
        ("learning.method=distributed", "learning.workers=2"),
        ("learning.method=data_parallel", "learning.workers=2"),
        pytest.param(
            ("run.inference=int8",),
            marks=pytest.mark.skipif(not find_spec("cudnn"), reason="no nvidia-cudnn-frontend"),
        ),
    ],
)
def test_a_short_run_learns_and_resumes(
    tmp_path: Path, device: torch.device, more: tuple[str, ...]
) -> None:
    config = apply(recipe_for("connect4", on_gpu=True), [*SHORT, *more])
    folder = RunFolder.create(tmp_path / "run", config)
    train(folder, lambda progress: None)
    folder.change(apply(config, ["run.iterations=16"]))
    train(folder, lambda progress: None)
    assert [line["iteration"] for line in lines(folder, "iteration")] == list(range(1, 17))
    errors = [line["strength"]["errors"] for line in lines(folder, "strength")]
    assert errors[-1] < errors[0]
    assert not [line for line in lines(folder, "note") if "restarting" in line["note"]]
    assert (tmp_path / "run" / "weights" / "000016.safetensors").exists()


def test_frozen_parts_do_not_learn(tmp_path: Path, device: torch.device) -> None:
    short = [*SHORT, "run.iterations=4", "run.strength_every=0", "learning.freeze=tower"]
    config = apply(recipe_for("connect4", on_gpu=True), short)
    folder = RunFolder.create(tmp_path / "run", config)
    train(folder, lambda progress: None)
    net = build_net(config.net, RULES.planes_shape, RULES.num_actions, seed=config.run.seed)
    before, after = net.state_dict(), folder.load_weights().state
    changed = {name.split(".")[0] for name in after if not torch.equal(before[name], after[name])}
    assert changed == {"policy", "value"}


def test_a_killed_actor_is_replaced(tmp_path: Path, device: torch.device) -> None:
    config = apply(recipe_for("connect4", on_gpu=True), [*SHORT, "run.actors=2"])
    folder = RunFolder.create(tmp_path / "run", config)
    killed: list[int] = []

    def kill(progress: Progress) -> None:
        if progress.iteration == 3 and not killed:
            workers = worker_processes()
            killed.append(workers[0].pid)
            workers[0].kill()

    train(folder, kill)
    assert len(lines(folder, "iteration")) == 12
    assert [line for line in lines(folder, "note") if "killed by SIGKILL" in line["note"]]


@pytest.mark.parametrize("backend", ["fused-float16", "bfloat16"])
def test_ensembles_agree_with_float32(backend: str, device: torch.device) -> None:
    nets = []
    for seed, width in ((1, 64), (2, 32)):
        net = build_net(
            NetConfig(width=width, depth=2), RULES.planes_shape, RULES.num_actions, seed=seed
        )
        for head in ("policy.last.weight", "value.last.weight"):
            torch.nn.init.normal_(net.get_parameter(head), std=0.1)
        nets.append(net)
    planes = (np.random.default_rng(1).random((300, *RULES.planes_shape)) < 0.3).astype(np.float32)
    options: dict[str, Any] = {"planes_shape": RULES.planes_shape, "device": device}
    expected = GpuEvaluator(Ensemble(nets), **options, backend="float32")(planes)
    found = GpuEvaluator(Ensemble(nets), **options, backend=backend)(planes)
    np.testing.assert_allclose(found[1], expected[1], atol=0.02)
    assert GpuEvaluator(Ensemble(nets), **options).backend == "fused-float16"
