"""Make the book of short, balanced chess openings for matches.

The moves of a line are drawn uniformly from those that Stockfish, at a low depth, finds at most 50
centipawns worse than the best. A line is kept if Stockfish, at a higher depth, evaluates its last
position within 50 centipawns of equality, and if no other line leads to the same position.

    PYTHONPATH=src python tools/make_chess_openings.py --lines 500 \
        --out src/rookery/arena/data/chess_openings.txt
"""

import argparse
import re
import select
import sys
from pathlib import Path

import numpy as np

from rookery.arena.players.engine import Engine
from rookery.arena.players.engine_spec import EngineSpec, read_engine_spec
from rookery.base import generator, write_atomic
from rookery.games import load_game

SCORE = re.compile(r"info .*\bmultipv (\d+) score cp (-?\d+)\b.* pv (\S+)")
CHOICES = 8
DECIDED = 10_000  # for a position without a score in centipawns, such as a mate
Scores = dict[str, int]


class Analyser:
    """Stockfish at full strength, which returns the scores of its best moves."""

    def __init__(self, depth: int, choices: int) -> None:
        command = read_engine_spec("stockfish:1350").command
        options = (("Threads", "1"), ("Hash", "16"), ("MultiPV", str(choices)))
        self._engine = Engine(EngineSpec("stockfish", command, options, f"depth {depth}"))
        self._cache: dict[str, Scores] = {}

    def scores(self, moves: list[str]) -> Scores:
        """Return the score of each move, in centipawns for the player to move."""
        line = " ".join(["startpos moves", *moves])
        if line not in self._cache:
            self._cache[line] = self._search(line)
        return self._cache[line]

    def _search(self, line: str) -> Scores:
        """Return the scores at the last depth."""
        self._engine.go(line)
        found: dict[int, tuple[str, int]] = {}
        while True:
            select.select([self._engine], [], [], 60)
            for line in self._engine.read_lines():
                if match := SCORE.match(line):
                    found[int(match[1])] = match[3], int(match[2])
                if line.startswith("bestmove"):
                    return dict(found.values())


def draw_line(engine: Analyser, plies: int, margin: int, stream: np.random.Generator) -> list[str]:
    """Return a line of moves that are nearly the best."""
    moves: list[str] = []
    while len(moves) < plies:
        scores = engine.scores(moves)
        best = max(scores.values())
        good = sorted(move for move, score in scores.items() if score >= best - margin)
        moves.append(str(stream.choice(good)))
    return moves


def make(options: argparse.Namespace) -> list[str]:
    """Return the lines of the book."""
    quick, deep = Analyser(options.depth, CHOICES), Analyser(options.check_depth, 1)
    chess, stream = load_game("chess"), generator(options.seed, "chess openings")
    book: dict[bytes, str] = {}
    while len(book) < options.lines:
        moves = draw_line(quick, options.plies, options.margin, stream)
        if abs(max(deep.scores(moves).values(), default=DECIDED)) <= options.margin:
            text = " ".join(moves)
            book.setdefault(chess.position(f"startpos moves {text}").tobytes(), text)
            print(f"\r{len(book)}/{options.lines}", end="", file=sys.stderr)
    return list(book.values())


def main() -> None:
    """Make the book and write the file."""
    parser = argparse.ArgumentParser(description="make the book of chess openings")
    parser.add_argument("--lines", type=int, default=500)
    parser.add_argument("--plies", type=int, default=6)
    parser.add_argument(
        "--margin",
        type=int,
        default=50,
        help="largest loss of a move and imbalance of a line, in centipawns",
    )
    parser.add_argument("--depth", type=int, default=4, help="search depth for the choice of moves")
    parser.add_argument(
        "--check-depth", type=int, default=9, help="search depth for the check of lines"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    header = [
        "# Chess openings, one line of UCI moves each: nearly best moves to a balanced position,",
        f"# within {options.margin} centipawns by Stockfish 15.1 at depths {options.depth} and"
        f" {options.check_depth}; seed {options.seed}. Made by tools/make_chess_openings.py.",
    ]
    text = "".join(f"{line}\n" for line in [*header, *make(options)])
    write_atomic(options.out, text.encode("ascii"))


if __name__ == "__main__":
    main()
