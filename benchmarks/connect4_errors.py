"""Connect Four from nothing: the error table of a run after some minutes.

    python benchmarks/connect4_errors.py RUN --minutes 10,60 --simulations 0,32,100 --devices cpu

RUN is the folder of `rookery train connect4 --run RUN`; its weights nearest before each time are
measured. Prints one line a time and number of simulations: errors in percent, group by group.
"""

import argparse
from pathlib import Path


def iteration_at(folder: Path, seconds: float) -> int:
    """The last iteration that had been reached, and kept its weights, after `seconds`."""
    from rookery.training import Stats

    kept = {int(path.stem) for path in (folder / "weights").glob("*.safetensors")}
    passed = [
        int(line["iteration"])
        for line in Stats(folder).lines()
        if line["kind"] == "iteration" and line["seconds"] <= seconds
    ]
    return max(number for number in passed if number in kept)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("--minutes", default="10,60")
    parser.add_argument("--simulations", default="0,32,100")
    parser.add_argument("--devices", default="cpu")
    options = parser.parse_args()

    from rookery.api import read_player_spec
    from rookery.arena import strength_test_for
    from rookery.training import RunFolder

    rules = RunFolder(options.run).game
    for minutes in map(float, options.minutes.split(",")):
        iteration = iteration_at(options.run, 60 * minutes)
        for simulations in options.simulations.split(","):
            spec = f"{options.run}@{iteration}:{simulations}"
            named = read_player_spec(spec, rules, devices=options.devices)
            player = named.player(rules, seed=1)
            rows = strength_test_for(rules).measure(player).rows
            groups = ", ".join(f"{row.label} {row.errors.percent:.1f}" for row in rows)
            print(f"connect4 {minutes:g} min, {simulations} simulations: errors in %: {groups}")


if __name__ == "__main__":
    main()
