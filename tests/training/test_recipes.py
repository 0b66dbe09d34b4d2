"""Every recipe, shortened to seconds, runs the whole loop; so does a game of the user."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from own_rules import marked_rules
from rookery.base import UnknownName
from rookery.games import game_names
from rookery.nets import CpuEvaluator
from rookery.replay import count, read_shard
from rookery.training import RECIPES, Config, Progress, RunFolder, Stats, apply, recipe_for, train
from rookery.training.recipes import DEFAULTS
from rookery.training.store.checkpoint import Checkpoint

ITERATIONS = 3
SHORT = [
    "run.minutes=0",
    f"run.iterations={ITERATIONS}",
    "run.checkpoint_every=2",
    "run.strength_every=50",
    "run.strength_simulations=1",
    "run.elo_games=2",
    "run.elo_simulations=1",
    "net.width=8",
    "net.depth=1",
    "selfplay.games=16",
    "selfplay.simulations=2, 4@0.5",
    "learning.batch_size=64",
]


def shortened(config: Config) -> Config:
    """Return the same run within seconds: few games, fewer plies, a tiny network."""
    moves = max(9, config.run.moves)
    plies = moves if config.selfplay.max_plies else 0
    return apply(config, [*SHORT, f"run.moves={moves}", f"selfplay.max_plies={plies}"])


def check_loads(path: Path) -> None:
    """Check that the files of the run can be loaded and fit together."""
    folder, found = RunFolder(path), Checkpoint.load(path)
    assert found is not None and found.position.iteration == ITERATIONS
    assert [file.stem for file in sorted((path / "weights").iterdir())] == ["000002", "000003"]
    weights = folder.load_weights()
    assert weights.header.step == found.learner["updates"][0] > 0
    shape = folder.game.planes_shape
    logits, wdl = CpuEvaluator(weights.build(), shape, backend="float32")(
        np.zeros((2, *shape), "f4")
    )
    assert logits.shape == (2, folder.game.num_actions) and np.isfinite(logits).all()
    assert np.allclose(wdl.sum(axis=1), 1)
    shards = [path / "replay" / f"{number:06}.safetensors" for number in found.position.shards]
    assert sorted((path / "replay").iterdir()) == shards
    rows = sum(count(read_shard(shard, game=folder.game)) for shard in shards)
    assert rows == found.position.rows_made > 0


def check_statistics(path: Path) -> None:
    """Check the statistics of every part of the loop."""
    lines = list(Stats(path).lines())
    kinds = [line["kind"] for line in lines]
    assert kinds == ["started", *["iteration"] * ITERATIONS, "strength", "elo", "finished"]
    for number, line in enumerate(lines[1:-3], 1):
        assert line["iteration"] == number and line["progress"] == number / ITERATIONS
        assert line["selfplay"]["positions"] == line["selfplay"]["simulations"] / (
            2 if number <= 2 else 4
        )
        assert 0 < line["window"]["policy_entropy"] < 5
    learned = [line["learning"] for line in lines[1:-3] if line["learning"]]
    assert learned and all(0 < report["losses"]["total"] < 10 for report in learned)
    assert 0 <= lines[-3]["strength"]["errors"] <= 100
    assert lines[-2]["low"] < lines[-2]["elo"] < lines[-2]["high"]


def check_whole_loop(config: Config, path: Path) -> list[Progress]:
    """Train, check all files, and return what the callback was given."""
    seen: list[Progress] = []
    last = train(RunFolder.create(path, config), seen.append)
    check_loads(path)
    check_statistics(path)
    assert last == seen[-1] and last.progress == 1.0
    assert last.strength is not None and last.learned is not None
    return seen


@pytest.mark.parametrize(
    "recipe",
    [  # without a GPU, recipes for one differ only in what is shortened here
        pytest.param(name, marks=pytest.mark.slow) if name.endswith("-gpu") else name
        for name in RECIPES
    ],
)
def test_a_shortened_recipe_runs_the_whole_loop(recipe: str, tmp_path: Path) -> None:
    seen = check_whole_loop(shortened(RECIPES[recipe]()), tmp_path / "run")
    phases = list(dict.fromkeys(progress.phase for progress in seen))
    assert phases == ["self-play", "learning", "checkpoint", "measuring"]


def test_a_game_of_the_user_runs_the_whole_loop(tmp_path: Path) -> None:
    rules, _ = marked_rules(tmp_path)
    config = recipe_for(str(rules))
    assert config.game == str(rules)
    check_whole_loop(shortened(config), tmp_path / "run")
    assert RunFolder(tmp_path / "run").load_weights().header.game.name == "mine"


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_recipe_has_its_own_name_a_shipped_game_and_an_end(recipe: str) -> None:
    config = RECIPES[recipe]()
    assert config.recipe == recipe and config.game in game_names()
    assert config.run.minutes or config.run.iterations
    assert recipe_for(config.game, recipe) == config


def test_every_game_has_a_default_recipe() -> None:
    assert sorted(DEFAULTS) == sorted(game_names())
    for name in game_names():
        assert recipe_for(name).game == name


def test_the_error_for_an_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(UnknownName, match=r"did you mean connect4\?"):
        recipe_for("conect4")
    with pytest.raises(UnknownName, match=r"did you mean connect4-laptop\?"):
        recipe_for("connect4", "connect4-latop")


def test_the_recipe_of_another_game_is_refused() -> None:
    with pytest.raises(UnknownName, match=r"recipe for tictactoe.*tictactoe-demo"):
        recipe_for("tictactoe", "connect4-laptop")


def test_a_run_ends_when_its_time_is_over(tiny_config: Config, tmp_path: Path) -> None:
    config = apply(tiny_config, ["run.minutes=0.0001", "run.iterations=0"])
    last = train(RunFolder.create(tmp_path / "run", config), lambda progress: None)
    assert last.progress == 1.0 and last.iteration <= 1
    assert [line["kind"] for line in Stats(tmp_path / "run").lines()][-1] == "finished"


def test_a_finished_run_continues_when_its_iterations_are_raised(
    tiny_config: Config, tmp_path: Path
) -> None:
    folder = RunFolder.create(tmp_path / "run", apply(tiny_config, ["run.iterations=1"]))
    assert train(folder, lambda progress: None).iteration == 1
    folder.change(replace(folder.config, run=replace(folder.config.run, iterations=2)))
    assert train(folder, lambda progress: None).iteration == 2
    made = [line["iteration"] for line in Stats(folder.path).lines() if line["kind"] == "iteration"]
    assert made == [1, 2]
