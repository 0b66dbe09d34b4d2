"""Make the ladder of a game without engines: play matches between its rungs, and fit one Elo scale.

Each rung plays the next two above it, in pairs of games from random openings. The file keeps every
match and the command. `random` is rated 0.

    PYTHONPATH=src python tools/make_ladder.py connect4 --games 200
"""

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from rookery.arena import fit_ladder
from rookery.base import write_atomic
from rookery.games import load_game
from rookery.training.evaluation.rating import play_neighbours

LADDERS = Path(__file__).parents[1] / "src/rookery/arena/ladders"
RUNGS = {
    "connect4": "random,minimax:1,minimax:2,minimax:4,minimax:6,minimax:8,minimax:10",
    "tictactoe": "random,minimax:1,minimax:2,minimax:4,solver",
}


def main() -> None:
    """Play the matches, and write the ladder."""
    parser = argparse.ArgumentParser(description="make the ladder of a game")
    parser.add_argument("game", choices=RUNGS)
    parser.add_argument("--rungs", help="players, the weakest first")
    parser.add_argument("--games", type=int, default=200, help="number of games in each match")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, help="by default the file that ships with Rookery")
    options = parser.parse_args()
    rungs = options.rungs or RUNGS[options.game]
    game, players = load_game(options.game), rungs.split(",")
    results = play_neighbours(
        game, players, games=options.games, seed=options.seed, workers=0, on_note=print
    )
    ladder = fit_ladder(game.name, game, results)
    plain = {
        "name": ladder.name,
        "game": ladder.game,
        "anchor": ["random", 0],
        "command": f"python tools/make_ladder.py {game.name} --rungs {rungs} "
        f"--games {options.games} --seed {options.seed}",
        "rungs": [asdict(rung) for rung in ladder.rungs],
        "matches": [asdict(each) for each in results],
    }
    path = options.out or LADDERS / f"{game.name}.json"
    write_atomic(path, (json.dumps(plain, indent=1) + "\n").encode("ascii"))
    for rung in reversed(ladder.rungs):
        print(f"{rung.player:12} {rung.elo:6.0f}  {rung.low:.0f} to {rung.high:.0f}")


if __name__ == "__main__":
    main()
