"""Perft of chess on one core, six positions, compared with rust-chess and python-chess.

Nothing is counted in bulk: every last move is made. rust-chess (the crate `chess` behind a Python
package) and python-chess are walked through from Python, which is how they are used here; they get
one ply less. Compiling is not timed; every count is checked.

    python benchmarks/chess_perft.py

A peer that is not installed is left out. Prints a line for each position, in millions of leaves a
second of processor time, the median of several rounds with the lowest and the highest.
"""

import argparse
import importlib.util
import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rookery.base import compiled
from rookery.games import States, load_game


@dataclass(frozen=True)
class Case:
    """A position, and its leaves by depth."""

    name: str
    fen: str
    depth: int
    leaves: tuple[int, int]
    """At one ply less, and at `depth`."""


CASES = (
    Case("start", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 5, (197281, 4865609)),
    Case(
        "kiwipete",
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        4,
        (97862, 4085603),
    ),
    Case("rooks", "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", 6, (674624, 11030083)),
    Case(
        "promotions",
        "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
        5,
        (422333, 15833292),
    ),
    Case(
        "talkchess",
        "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8",
        4,
        (62379, 2103487),
    ),
    Case(
        "middlegame",
        "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
        4,
        (89890, 3894594),
    ),
)

Perft = Callable[[str, int], int]
"""The leaves below a position, given as FEN, at a depth."""


def ours() -> Perft:
    rules = load_game("chess")
    moves_of, play = rules.rules.legal, rules.rules.play

    @compiled
    def walk(states: States, moves: NDArray[np.int32], left: NDArray[np.int64]) -> int:
        """Count the lines of len(states) - 1 plies from states[0]."""
        depth, last, leaves = 0, len(states) - 1, 0
        left[0] = moves_of(states[0], moves[0])
        while depth >= 0:
            if left[depth] == 0:
                depth -= 1
                continue
            left[depth] -= 1
            states[depth + 1] = states[depth]
            play(states[depth + 1], moves[depth, left[depth]])
            if depth + 1 == last:
                leaves += 1
            else:
                depth += 1
                left[depth] = moves_of(states[depth], moves[depth])
        return leaves

    def perft(fen: str, depth: int) -> int:
        states = rules.blank_states(depth + 1)
        states[0] = rules.position(fen)
        moves = np.zeros((depth, rules.max_legal), np.int32)
        return int(walk(states, moves, np.zeros(depth, np.int64)))

    return perft


def rust_chess() -> Perft:
    import rust_chess

    def leaves(board: Any, depth: int) -> int:
        if depth == 0:
            return 1
        after = (board.make_move_new(move, False) for move in board.generate_legal_moves())
        return sum(leaves(each, depth - 1) for each in after)

    # Repetitions do not matter here, and remembering positions would cost it time.
    quick = rust_chess.RepetitionDetectionMode.NONE
    return lambda fen, depth: leaves(rust_chess.Board(fen, quick), depth)


def python_chess() -> Perft:
    import chess

    def leaves(board: Any, depth: int) -> int:
        if depth == 0:
            return 1
        total = 0
        for move in board.legal_moves:
            board.push(move)
            total += leaves(board, depth - 1)
            board.pop()
        return total

    return lambda fen, depth: leaves(chess.Board(fen), depth)


def rate(perft: Perft, case: Case, *, plies_less: int) -> float:
    """Millions of leaves per second."""
    start = time.process_time()
    found = perft(case.fen, case.depth - plies_less)
    elapsed = time.process_time() - start
    expected = case.leaves[1 - plies_less]
    assert found == expected, f"{case.name}: {found} leaves, expected {expected}"
    return found / elapsed / 1e6


def players() -> dict[str, Perft]:
    """Ours first, then the peers that are there."""
    found = {"rookery": ours()}
    if importlib.util.find_spec("rust_chess"):
        found["rust-chess"] = rust_chess()
    if importlib.util.find_spec("chess"):
        found["python-chess"] = python_chess()
    return found


def tell(name: str, rates: list[float]) -> str:
    return f"{name} {statistics.median(rates):.3g} ({min(rates):.3g} to {max(rates):.3g})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--core", type=int, default=0, help="the core to run on")
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {options.core})
    playing = players()
    playing["rookery"](CASES[0].fen, 2)  # compiles
    for case in CASES:
        rates: dict[str, list[float]] = {name: [] for name in playing}
        for _ in range(options.rounds):
            for name, perft in playing.items():
                rates[name].append(rate(perft, case, plies_less=int(name != "rookery")))
        print(f"{case.name}: " + ", ".join(tell(*each) for each in rates.items()), flush=True)


if __name__ == "__main__":
    main()
