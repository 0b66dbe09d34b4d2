"""A Connect Four player against perfect play: matches with the solver, and ordinary positions.

    python benchmarks/perfect_play.py connect4:100 --games 200 --opening-plies 12

The match: pairs of games from random openings, in which every reply of the opponent is the best
one. So the player loses value in a game if, and only if, the result is worse than the solver's
verdict on the opening. Prints how many games from won, drawn and lost openings kept their value.

The positions: those of `benchmarks/data/connect4_ordinary.txt`, taken from games as they came. Most
packaged test positions are hard on purpose; these are not selected, so that lost positions, wins in
one and positions in which all moves are equal are among them. `--games 0` measures them alone.
"""

import argparse
import multiprocessing
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from pathlib import Path

import numpy as np
import torch
from heading import print_heading, print_table

from rookery.api import read_player_spec
from rookery.arena import Connect4Solver, SolverPlayer
from rookery.arena.match import part_seed, play_part
from rookery.arena.openings import Opening, random_openings
from rookery.arena.pairs import MatchGame
from rookery.arena.rating.elo import wilson
from rookery.arena.solvers.positions import read_positions
from rookery.arena.strength.solved import PositionTest
from rookery.base import available_cores
from rookery.games import load_game

POSITIONS = Path(__file__).parent / "data" / "connect4_ordinary.txt"
PAIRS_PER_PART = 17
TABLE_BITS = 24
VALUES = {1: "won", 0: "drawn", -1: "lost"}
CONNECT4 = load_game("connect4")
Judged = tuple[int, int]
"""The value of an opening for the player, and the result of its game."""


@cache
def solver() -> Connect4Solver:
    """Return the solver of this process."""
    return Connect4Solver(TABLE_BITS)


def value_for_player(game: MatchGame) -> int:
    """Return what the player gets from the opening if both sides play perfectly."""
    moves = "".join(str(action + 1) for action in game.opening)
    value = int(np.sign(solver().score(CONNECT4.position(moves))))
    player_moves = game.a_first == (len(game.opening) % 2 == 0)
    return value if player_moves else -value


def play(spec: str, devices: str, seed: int, part: int, openings: list[Opening]) -> list[Judged]:
    """Play the games of a part against the solver."""
    named = read_player_spec(spec, CONNECT4, devices=devices)
    player = named.player(CONNECT4, seed=part_seed(seed, part, side=0))
    perfect = SolverPlayer(CONNECT4, solver(), seed=part_seed(seed, part, side=1))
    played = play_part(CONNECT4, player, perfect, openings)
    return [(value_for_player(game), game.result) for game in played]


def play_match(options: argparse.Namespace) -> list[Judged]:
    """Return the values and results of all games, which several processes play."""
    openings = random_openings(
        CONNECT4, options.games // 2, plies=options.opening_plies, seed=options.seed
    )
    parts = [openings[first:][:PAIRS_PER_PART] for first in range(0, len(openings), PAIRS_PER_PART)]
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(
        options.processes, mp_context=spawn, initializer=torch.set_num_threads, initargs=(1,)
    ) as pool:
        one_part = partial(play, options.player, options.devices, options.seed)
        return [judged for part in pool.map(one_part, range(len(parts)), parts) for judged in part]


def match_rows(games: Sequence[Judged]) -> list[list[str]]:
    """Return a row of the table for each value of an opening, then one for all."""
    rows = []
    for value, name in [*VALUES.items(), (None, "all")]:
        chosen = [game for game in games if value in (None, game[0])]
        if not chosen:
            continue
        kept = sum(result >= worth for worth, result in chosen)
        results = [sum(result == each for _, result in chosen) for each in VALUES]
        low, high = wilson(1 - kept / len(chosen), len(chosen))
        interval = f"{100 * low:.1f} to {100 * high:.1f} %"
        counts = map(str, (len(chosen), *results, len(chosen) - kept))
        rows.append([name, *counts, interval])
    return rows


def position_rows(options: argparse.Namespace) -> list[list[str]]:
    """Return the errors of the player by group of positions."""
    player = read_player_spec(options.player, CONNECT4, devices=options.devices)
    test = PositionTest(read_positions(POSITIONS.read_text("ascii")))
    rows = []
    for row in test.measure(player.player(CONNECT4, seed=options.seed)).rows:
        assert row.not_best is not None
        cells = [f"{each.percent:.2f} %" for each in (row.errors, row.not_best)]
        interval = f"{row.errors.low:.2f} to {row.errors.high:.2f} %"
        rows.append([row.label, str(row.number), cells[0], interval, cells[1]])
    return rows


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("player", help="such as connect4:100 or runs/connect4-1:100")
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--opening-plies", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--devices", default="cpu")
    parser.add_argument("--processes", type=int, default=available_cores())
    options = parser.parse_args()
    print_heading()
    if options.games:
        headings = ["openings", "games", "won", "drawn", "lost", "lost value", "95 %"]
        print_table(headings, match_rows(play_match(options)))
        print()
    headings = ["positions", "number", "errors", "95 %", "not the best move"]
    print_table(headings, position_rows(options))


if __name__ == "__main__":
    main()
