"""Tic-Tac-Toe from nothing: seconds of training, then every position judged at 50 simulations.

    python benchmarks/tictactoe.py [--seeds 3]

Prints one line a seed: errors in the 4,520 positions that are not over, and games lost against
every possible reply. The clock starts before anything is imported and holds compiling, too.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def train(seed: int, folder: Path) -> float:
    """Seconds of `rookery train tictactoe`, whole process."""
    command = [sys.executable, "-m", "rookery", "train", "tictactoe", "--run", str(folder)]
    begun = time.perf_counter()
    subprocess.run([*command, "--set", f"run.seed={seed}"], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()

    from rookery.api import read_player_spec
    from rookery.arena import strength_test_for
    from rookery.training import RunFolder

    for seed in range(1, options.seeds + 1):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "run"
            seconds = train(seed, folder)
            rules = RunFolder(folder).game
            player = read_player_spec(f"{folder}:50", rules).player(rules, seed=1)
            *_, total, lost = strength_test_for(rules).measure(player).rows
        print(
            f"tictactoe seed {seed}: {seconds:.0f} s, {total.errors.count} errors in "
            f"{total.number} positions, {lost.errors.count} of {lost.number} games lost"
        )


if __name__ == "__main__":
    main()
