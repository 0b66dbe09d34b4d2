"""Run folders whose nets have random weights: enough where nothing depends on good play."""

from dataclasses import replace
from pathlib import Path

from rookery.nets import NetConfig, build_net
from rookery.training import RunFolder, recipe_for


def random_run(path: Path, game: str, *, width: int = 8, depth: int = 1, seed: int = 1) -> Path:
    """A run of `game` that has played nothing and has one net, of iteration 1."""
    config = replace(recipe_for(game, None), net=NetConfig(width=width, depth=depth))
    folder = RunFolder.create(path, config)
    rules = folder.game
    net = build_net(
        config.net,
        rules.planes_shape,
        rules.num_actions,
        policy_cells=rules.policy_cells,
        seed=seed,
    )
    folder.save_weights(net, iteration=1, step=1)
    return path
