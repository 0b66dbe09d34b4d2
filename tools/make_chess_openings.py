"""Makes the book of short, balanced chess openings that matches begin with.

A line is drawn move by move, evenly from the moves that Stockfish finds at most 50 centipawns worse
than the best, at a small depth. It is kept if Stockfish, looking deeper, finds the position within
50 centipawns of equality, and if no other line of the book leads there.

    PYTHONPATH=src python tools/make_chess_openings.py --lines 500 \
        --out src/rookery/arena/data/chess_openings.txt
"""

import argparse
import re
import select
import sys
from pathlib import Path

import numpy as np

from rookery.arena.players.engine import Engine, EngineSpec
from rookery.arena.players.engine_specs import read_engine
from rookery.base import generator, write_atomic
from rookery.games import load_game

SCORE = re.compile(r"info .*\bmultipv (\d+) score cp (-?\d+)\b.* pv (\S+)")
CHOICES = 8
Scores = dict[str, int]


class Analyser:
    """Stockfish at full strength, asked for the scores of the best moves."""

    def __init__(self, depth: int, choices: int) -> None:
        command = read_engine("stockfish:1350").command
        options = (("Threads", "1"), ("Hash", "16"), ("MultiPV", str(choices)))
        self._engine = Engine(EngineSpec("stockfish", command, options, f"depth {depth}"))
        self._seen: dict[str, Scores] = {}

    def scores(self, moves: list[str]) -> Scores:
        """Centipawns for the player to move, by move."""
        line = " ".join(["startpos moves", *moves])
        if line not in self._seen:
            self._seen[line] = self._look(line)
        return self._seen[line]

    def _look(self, line: str) -> Scores:
        """The scores of the last depth searched."""
        self._engine.ask(line)
        found: dict[int, tuple[str, int]] = {}
        while True:
            select.select([self._engine], [], [], 60)
            for line in self._engine.lines():
                if match := SCORE.match(line):
                    found[int(match[1])] = match[3], int(match[2])
                if line.startswith("bestmove"):
                    return dict(found.values())


def draw_line(analyst: Analyser, plies: int, margin: int, stream: np.random.Generator) -> list[str]:
    """A line of sensible moves."""
    moves: list[str] = []
    while len(moves) < plies:
        scores = analyst.scores(moves)
        best = max(scores.values())
        good = sorted(move for move, score in scores.items() if score >= best - margin)
        moves.append(str(stream.choice(good)))
    return moves


def make(options: argparse.Namespace) -> list[str]:
    """The lines of the book."""
    quick, deep = Analyser(options.depth, CHOICES), Analyser(options.check_depth, 1)
    chess, stream = load_game("chess"), generator(options.seed, "chess openings")
    book: dict[bytes, str] = {}
    while len(book) < options.lines:
        moves = draw_line(quick, options.plies, options.margin, stream)
        if abs(max(deep.scores(moves).values(), default=10_000)) <= options.margin:
            text = " ".join(moves)
            book.setdefault(chess.position(f"startpos moves {text}").tobytes(), text)
            print(f"\r{len(book)}/{options.lines}", end="", file=sys.stderr)
    return list(book.values())


def main() -> None:
    """Make the book and write the file."""
    parser = argparse.ArgumentParser(description="make the book of chess openings")
    parser.add_argument("--lines", type=int, default=500)
    parser.add_argument("--plies", type=int, default=6)
    parser.add_argument("--margin", type=int, default=50, help="centipawns")
    parser.add_argument("--depth", type=int, default=4, help="that moves are drawn at")
    parser.add_argument("--check-depth", type=int, default=9, help="that lines are kept at")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    header = [
        "# Chess openings in UCI, a line each: every move near the best, the end near equality,",
        f"# within {options.margin} centipawns by Stockfish 15.1 at depths {options.depth} and"
        f" {options.check_depth}; seed {options.seed}. Made by tools/make_chess_openings.py.",
    ]
    text = "".join(f"{line}\n" for line in [*header, *make(options)])
    write_atomic(options.out, text.encode("ascii"))


if __name__ == "__main__":
    main()
