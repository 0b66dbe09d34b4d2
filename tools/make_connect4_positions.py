"""Make the Connect Four positions that ship with Rookery, with the exact score of every move.

A position comes from a game in which three of four moves are sensible (win at once, else do not
allow an immediate win, if possible) and the others random. It is kept if

- the game is not over and the player to move has no immediate win, which would be too easy;
- some legal move loses game value (so the position is not lost);
- the group has no equal or mirrored position.

Candidate i of a group depends on (seed, group, i) alone, and candidates are taken in order, so the
number of workers does not change the file. The time limit can, because it ends the file early.

    python tools/make_connect4_positions.py --per-group 500 --workers 16 --seed 1 \
        --out src/rookery/arena/data/connect4_positions.txt --seconds 3000

With `--ordinary`, positions of all lengths are kept as they come, in the groups begin, middle and
end by their plies alone:

    python tools/make_connect4_positions.py --ordinary --per-group 500 --seed 1 \
        --out benchmarks/data/connect4_ordinary.txt
"""

import argparse
import itertools
import multiprocessing
import sys
import time
from collections import deque
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path

import numpy as np

from rookery.arena import Connect4Solver
from rookery.arena.solvers.connect4 import playable_cells, safe_moves, winning_cells
from rookery.arena.solvers.positions import SolvedPosition
from rookery.base import generator, write_atomic
from rookery.games import ONGOING, State, load_game

GROUPS = ("begin-easy", "begin-medium", "begin-hard", "middle-easy", "middle-medium", "end-easy")
PLIES = {"begin": (8, 14), "middle": (15, 28), "end": (29, 38)}
SENSIBLE = 0.75
WAITING_PER_WORKER = 4
ORDINARY = ("begin", "middle", "end")
CHEAP_FIRST = sorted(GROUPS, key=lambda group: (group.startswith("begin"), GROUPS.index(group)))

_solvers: list[Connect4Solver] = []  # the one solver of this process


def start_worker(table_bits: int) -> None:
    """Create the solver of this process."""
    _solvers.append(Connect4Solver(table_bits))


def candidate(seed: int, group: str, index: int) -> SolvedPosition | None:
    """Return candidate `index` of the group, or None if it is not kept."""
    rng = generator(seed, f"connect4 positions {group}", index)
    low, high = PLIES[group.split("-")[0]]
    moves = played_game(rng, int(rng.integers(low, high + 1)))
    state = load_game("connect4").position(moves)
    if group in ORDINARY:
        return SolvedPosition(group, moves, tuple(_solvers[0].scores(state)))
    if winning_cells(state.mover, state.stones) & playable_cells(state.stones):
        return None
    if not belongs(state, len(moves), group):
        return None
    scores = tuple(_solvers[0].scores(state))
    values = {np.sign(score) for score in scores if score is not None}
    return SolvedPosition(group, moves, scores) if len(values) > 1 else None


def belongs(state: State, plies: int, group: str) -> bool:
    """Return whether the state, after `plies` plies, is won or drawn and in the group."""
    scores = [score for score in range(21) if group_of(plies, score) == group]
    solver = _solvers[0]
    return solver.reaches(state, scores[0]) and not solver.reaches(state, scores[-1] + 1)


def plies_left(plies: int, score: int) -> int:
    """Return the plies to the end under perfect play, after `plies` plies at a given score."""
    if score == 0:
        return 42 - plies
    winner_is_second = plies % 2 == (1 if score > 0 else 0)
    plies_before_win = 42 + winner_is_second - 2 * abs(score)
    return plies_before_win + 1 - plies


def group_of(plies: int, score: int) -> str:
    """Return the group of a position with a given score after `plies` plies."""
    left = plies_left(plies, score)
    phase = "begin" if plies <= 14 else "middle" if plies <= 28 else "end"
    return f"{phase}-{'easy' if left < 14 else 'medium' if left < 28 else 'hard'}"


def played_game(rng: np.random.Generator, plies: int) -> str:
    """Return the first `plies` moves of a game that lasts longer."""
    connect4 = load_game("connect4")
    while True:
        state, moves = connect4.new_states(1)[0], ""
        while len(moves) < plies and connect4.rules.outcome(state) == ONGOING:
            action = chosen_action(state, rng)
            connect4.rules.play(state, action)
            moves += str(action + 1)
        if connect4.rules.outcome(state) == ONGOING:
            return moves


def chosen_action(state: State, rng: np.random.Generator) -> int:
    """Return a sensible move, or sometimes a random one."""
    cells = int(playable_cells(state.stones))
    if rng.random() < SENSIBLE:
        wins = int(winning_cells(state.mover, state.stones)) & cells
        cells = wins or int(safe_moves(state.mover, state.stones)) or cells
    return int(rng.choice([column for column in range(7) if cells >> 7 * column & 0b111111]))


def mirror_key(moves: str) -> bytes:
    """Return a key that a position shares with its mirror image only."""
    mirrored = "".join(str(8 - int(column)) for column in moves)
    return min(bytes(load_game("connect4").position(text).tobytes()) for text in (moves, mirrored))


def fill(
    pool: ProcessPoolExecutor,
    group: str,
    *,
    seed: int,
    per_group: int,
    waiting: int,
    seconds: float,
) -> list[SolvedPosition]:
    """Return the first `per_group` positions of the group, or those found within `seconds`."""
    found: dict[bytes, SolvedPosition] = {}
    pending: deque[Future[SolvedPosition | None]] = deque()
    indices, started = itertools.count(), time.monotonic()
    while len(found) < per_group and (left := started + seconds - time.monotonic()) > 0:
        while len(pending) < waiting:
            pending.append(pool.submit(candidate, seed, group, next(indices)))
        try:
            position = pending.popleft().result(timeout=left)
        except TimeoutError:
            break
        if position is not None:
            found.setdefault(mirror_key(position.moves), position)
            elapsed = time.monotonic() - started
            print(
                f"\r{group:14}{len(found):5}/{per_group}{elapsed:8.1f} s", end="", file=sys.stderr
            )
    for future in pending:
        future.cancel()
    print(file=sys.stderr)
    return list(found.values())


def make(options: argparse.Namespace) -> list[SolvedPosition]:
    """Return all groups; each gets an equal share of the time left, the cheap ones first."""
    end = time.monotonic() + options.seconds
    cheap_first = ORDINARY[::-1] if options.ordinary else CHEAP_FIRST
    positions: dict[str, list[SolvedPosition]] = {}
    with ProcessPoolExecutor(
        options.workers,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=start_worker,
        initargs=(options.table_bits,),
    ) as pool:
        for done, group in enumerate(cheap_first):
            positions[group] = fill(
                pool,
                group,
                seed=options.seed,
                per_group=options.per_group,
                waiting=WAITING_PER_WORKER * options.workers,
                seconds=(end - time.monotonic()) / (len(cheap_first) - done),
            )
    groups = ORDINARY if options.ordinary else GROUPS
    return [position for group in groups for position in positions[group]]


def header(options: argparse.Namespace) -> list[str]:
    """Return the comment lines at the top of the file."""
    return [
        "# Connect Four positions with the exact score of every move.",
        "# group moves s1 s2 s3 s4 s5 s6 s7: columns 1-7 played so far; the score of each move,",
        "# x = full column. 0 draw; n > 0 win for the player to move, the winner holding n stones",
        "# just before the winning one is played; n < 0 loss likewise.",
        f"# seed {options.seed}, made by: tools/make_connect4_positions.py"
        f"{' --ordinary' * options.ordinary} --per-group {options.per_group}"
        f" --seed {options.seed} --seconds {options.seconds:g}",
    ]


def write_line(position: SolvedPosition) -> str:
    """Return the line of the file for `position`."""
    scores = ("x" if score is None else str(score) for score in position.scores)
    return " ".join([position.group, position.moves, *scores])


def read_options() -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description="make the Connect Four positions")
    parser.add_argument("--per-group", type=int, default=500)
    parser.add_argument("--ordinary", action="store_true", help="keep positions as they come")
    parser.add_argument("--workers", type=int, default=multiprocessing.cpu_count())
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument(
        "--seconds", type=float, default=3000.0, help="time limit of the whole program"
    )
    parser.add_argument(
        "--table-bits", type=int, default=24, help="table of 2**bits * 8 bytes per worker"
    )
    return parser.parse_args()


def main() -> None:
    """Make the positions and write the file."""
    options = read_options()
    start_worker(16)
    candidate(options.seed, "end-easy", 0)  # compiles for all workers
    lines = [*header(options), *map(write_line, make(options))]
    write_atomic(options.out, "".join(f"{line}\n" for line in lines).encode("ascii"))


if __name__ == "__main__":
    main()
