"""Networks, losses and players of users: the examples of docs/own-parts.md, and mistakes."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import rookery as rk
from rookery.base import PLUGINS, Registry, plugins
from rookery.interface.cli.app import run
from rookery.learning import LearningConfig, LossWeights, Targets, measure_losses
from rookery.nets import NetConfig
from rookery.nets.build import OWN_NETS

PAGE = Path(__file__).parents[2] / "docs" / "own-parts.md"
FILES = {0: "plain_net.py", 2: "confidence.py"}
"""Python blocks of the page that are modules."""


@pytest.fixture
def chosen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """An empty folder, in which modules are found, and nothing registered."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    monkeypatch.setenv(PLUGINS, "")
    plugins.import_plugins.cache_clear()
    yield tmp_path
    plugins.import_plugins.cache_clear()
    for path in tmp_path.glob("*.py"):
        sys.modules.pop(path.stem, None)


def rookery(folder: Path, *arguments: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    source = Path(rk.__file__).parents[1]
    return subprocess.run(
        [sys.executable, "-m", "rookery", *arguments],
        cwd=folder,
        env={**os.environ, PLUGINS: "", "PYTHONPATH": str(source), **variables},
        capture_output=True,
        text=True,
        timeout=240,
    )


def test_the_examples_run(chosen: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(blocks) == 5
    names: dict[str, Any] = {"rk": rk}
    for number, block in enumerate(blocks):
        assert block.count("\n") <= 40
        if number in FILES:
            (chosen / FILES[number]).write_text(block)
        else:
            exec(compile(block, f"block {number} of {PAGE.name}", "exec"), names)
    assert os.environ[PLUGINS] == "plain_net,confidence"
    totals = [
        line["learning"]["losses"]
        for line in rk.open_run("runs/confident").stats()
        if line["kind"] == "iteration" and line["learning"]
    ]
    plain = totals[0]["policy"] + totals[0]["value"]
    assert totals and -0.03 < totals[0]["total"] - plain < -0.001  # 0.01 x minus the entropy

    # The command line in another process, which has actors of its own.
    words = ["--set", "run.iterations=3", "--set", "run.actors=1"]
    resumed = rookery(chosen, "resume", "runs/plain", *words, **{PLUGINS: "plain_net"})
    assert resumed.returncode == 0 and "3 iterations" in resumed.stdout, resumed.stderr
    refused = rookery(chosen, "eval", "runs/plain")
    assert refused.returncode == 2 and refused.stderr.count("\n") == 1
    assert "unknown net.kind 'plain'" in refused.stderr
    assert "If it is yours, import its module first, or name the module in" in refused.stderr

    # A file of weights says the same, and is not called damaged.
    rk.open_run("runs/plain").net().save("plain.safetensors")
    command = ["train", "tictactoe", "--init", "plain.safetensors"]
    refused = rookery(chosen, *command)
    assert refused.returncode == 2 and "plain.safetensors: unknown net.kind" in refused.stderr


@pytest.mark.parametrize(
    ("name", "reason"), [("broken", "ZeroDivisionError"), ("absent", "ModuleNotFoundError")]
)
def test_a_module_that_cannot_be_imported_is_named(
    chosen: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    reason: str,
) -> None:
    (chosen / "broken.py").write_text("1 / 0\n")
    monkeypatch.setenv(PLUGINS, name)
    assert run(["train", "tictactoe", "--set", "net.kind=x"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and not list(chosen.glob("runs/*"))
    assert f"{PLUGINS} names {name}, which cannot be imported: {reason}" in error


def test_names_are_unique_and_shipped_ones_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PLUGINS, "")
    registry: Registry[Any] = Registry("part", ("shipped",))

    def part() -> None:
        """A part of this module."""

    assert registry.register("mine")(part) is part and registry.find("mine") is part
    registry.register("mine")(part)  # again, as a notebook does
    other = type("Other", (), {"__module__": "another_module"})
    for name in ("mine", "shipped"):
        with pytest.raises(rk.ConfigError, match=f"already a part '{name}'"):
            registry.register(name)(other)
    with pytest.raises(rk.ConfigError, match="unknown part 'mne'; did you mean mine"):
        registry.find("mne")


def test_an_unknown_network_is_an_error_that_imports_only_what_was_chosen(chosen: Path) -> None:
    (chosen / "evil.py").write_text("raise SystemExit('executed')\n")
    with pytest.raises(rk.ConfigError, match=r"unknown net\.kind 'evil'"):
        NetConfig("evil")


def test_a_network_that_returns_halves_is_evaluated_in_float32(chosen: Path) -> None:
    class Tiny(nn.Module):
        def __init__(self, sizes: Any) -> None:
            super().__init__()
            self.layer = nn.Linear(18, sizes.num_actions + 3)

        def forward(self, planes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            out = self.layer(planes.flatten(1))
            return out[:, :-3], out[:, -3:]

    rk.register_net("tiny")(Tiny)
    try:
        net = rk.train("tictactoe", run="run", settings={"net.kind": "tiny", "run.iterations": 1})
        found = rk.analyse(rk.Board("tictactoe"), net.net(), simulations=5)
        assert abs(sum(found.wdl) - 1) < 1e-5
    finally:
        OWN_NETS._parts.pop("tiny")


TARGETS = Targets(
    policy=torch.tensor([[0.5, 0.5, 0.0]]),
    legal=torch.tensor([[True, True, False]]),
    wdl=torch.tensor([[1.0, 0.0, 0.0]]),
)


def test_own_losses_are_added_with_their_weights() -> None:
    weights = LossWeights(2.0, ((lambda logits, wdl, targets: logits[:, :2].sum(), 0.5),))
    logits, wdl = torch.tensor([[1.0, 3.0, 5.0]]), torch.zeros(1, 3)
    found = measure_losses(logits, wdl, targets=TARGETS, weights=weights)
    torch.testing.assert_close(found.total, found.policy + 2 * found.value + 0.5 * 4.0)


@pytest.mark.parametrize(
    "text", ["confidence", "confidence:", "confidence:nan", ":1", "x:1:1", "9" * 5000]
)
def test_losses_that_cannot_be_read(text: str) -> None:
    with pytest.raises(rk.ConfigError, match=r"learning.own_losses|unknown loss") as refused:
        LearningConfig(own_losses=text)
    assert len(str(refused.value)) < 200


def test_a_player_that_chooses_an_illegal_move_is_an_error() -> None:
    with pytest.raises(rk.IllegalPosition, match="z9"):
        rk.match(lambda board: "z9", "random", game="tictactoe", games=2)
    with pytest.raises(rk.ConfigError, match="in this process"):
        rk.match(lambda board: "1", "random", game="tictactoe", games=2, workers=2)


def test_a_board_of_a_record_continues_the_game() -> None:
    state = rk.load_game("connect4").random_states(1, seed=3)[0]
    board = rk.Board.from_state("connect4", state)
    board.push(board.legal_moves[0])
    board.pop()
    assert board.state.tobytes() == state.tobytes() and board.copy() == board
