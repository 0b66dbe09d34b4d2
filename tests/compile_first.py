"""Compile the kernels that many tests use, once and on all cores: run before the tests.

Numba caches them on disk. Without this, every process of the tests would compile them for itself.
"""

import os
import re
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

GAMES = ("chess", "hexapawn", "mine", "connect4", "tictactoe")
SETTINGS = (
    *("run.minutes=0", "run.iterations=2", "run.moves=9", "run.strength_every=0"),
    *("run.inference=float32", "net.width=8", "net.depth=1", "selfplay.games=16"),
    *("selfplay.simulations=4", "selfplay.max_plies=8", "selfplay.opening_plies=2"),
    *("replay.window_min=100", "learning.batch_size=32", "learning.precision=float32"),
)
DOCS = Path(__file__).parents[1] / "docs"


def compile_game(name: str) -> None:
    """Train, play and analyse a little, without output."""
    from own_rules import marked_rules
    from rookery.interface.cli.app import run

    with tempfile.TemporaryDirectory() as folder:
        os.environ["ROOKERY_STATE"] = f"{folder}/state"
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        game, settings = name, [word for each in SETTINGS for word in ("--set", each)]
        if name == "mine":
            game = str(marked_rules(Path(folder))[0])
        elif name == "hexapawn":
            page = (DOCS / "own-game.md").read_text(encoding="ascii")
            path = Path(folder) / "hexapawn.py"
            path.write_text(re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.M)[0])
            game = str(path)
        train = ["train", game, "--run", f"{folder}/run", *settings]
        match = ["match", f"{folder}/run:2", "minimax:1", "--games", "2", "--workers", "0"]
        analyse = ["analyse", f"{folder}/run", "--simulations", "2"]
        position = {"chess": "8/8/8/8/8/5k2/6q1/7K w - - 0 1"}.get(name, "1")
        for words in (train, match, [*analyse, position]):
            run(words)


if __name__ == "__main__":
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(compile_game, GAMES))
