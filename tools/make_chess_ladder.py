"""Make the chess ladder: play matches between its rungs and fit one Elo scale to all of them.

Each rung plays the next ones above it, in pairs of games from the book. The file keeps every match,
so another call adds to them. The anchor of the scale is Stockfish limited to a UCI_Elo of 1350.

    PYTHONPATH=src python tools/make_chess_ladder.py --games 100 --apart 2 \
        --out src/rookery/arena/ladders/stockfish.json
"""

import argparse
import json
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np
from bradley_terry import fit_ratings

from rookery.arena import MatchPlan, Player, named_player, play_part, report_match
from rookery.arena.players.engine_spec import FAMILIES, read_engine_spec
from rookery.arena.players.uci import UciPlayer
from rookery.base import ConfigError, write_atomic
from rookery.games import Game, load_game

RUNGS = (
    "random",
    "minimax:1",
    "minimax:2",
    "fairy:-20",
    "fairy:-10",
    "fairy:-5",
    "fairy:-4",
    "fairy:-3",
    "fairy:0",
    "stockfish:1350",
    "stockfish:1500",
    "stockfish:1700",
    "stockfish:1800",
    "stockfish:1900",
    "stockfish:2000",
    "stockfish:2100",
    "stockfish:2200",
    "stockfish:2400",
)
ANCHOR = ("stockfish:1350", 1350.0)
ENGINES = 12
Match = dict[str, Any]


def play(a: str, b: str, *, games: int, seed: int) -> Match:
    """Return the result of a match of two rungs; exit if an engine fails."""
    chess, plan = load_game("chess"), MatchPlan(games, seed, 0, book=True)
    first, second = make_player(a, chess, seed=seed), make_player(b, chess, seed=seed + 1)
    parts = [plan.openings(chess, part) for part in range(plan.parts)]
    openings = [opening for part in parts for opening in part]
    report = report_match(a, b, played=play_part(chess, first, second, openings))
    if report.faults:
        raise SystemExit(f"{a} against {b}: {report.faults[0]}")
    total = report.total
    return {
        "a": a,
        "b": b,
        "wins": total.wins,
        "draws": total.draws,
        "losses": total.losses,
        "distinct": report.distinct_games,
    }


def make_player(text: str, chess: Game, *, seed: int) -> Player:
    """Return the player of a rung; engines get a fixed number of processes."""
    if text.partition(":")[0] in FAMILIES and "~" not in text:
        return UciPlayer(chess, read_engine_spec(text), engines=ENGINES)
    return named_player(text, chess, seed=seed)


def fit(matches: list[Match], rungs: list[str]) -> list[dict[str, Any]]:
    """Return the rungs with their ratings, the weakest first; none while some are not connected."""
    points = np.zeros((len(rungs), len(rungs)))
    games = np.zeros(len(rungs), np.int64)
    for match in matches:
        a, b = rungs.index(match["a"]), rungs.index(match["b"])
        points[a, b] += match["wins"] + match["draws"] / 2
        points[b, a] += match["losses"] + match["draws"] / 2
        games[[a, b]] += match["wins"] + match["draws"] + match["losses"]
    anchor = ANCHOR if ANCHOR[0] in rungs else None
    try:
        ratings = zip(fit_ratings(rungs, points, anchor=anchor), games.tolist(), strict=True)
    except ConfigError:
        return []
    rows = [
        {
            "player": rating.name,
            "elo": round(rating.elo),
            "low": round(rating.low),
            "high": round(rating.high),
            "games": count,
        }
        for rating, count in ratings
    ]
    return sorted(rows, key=lambda row: float(row["elo"]))


def engine_name(text: str) -> str:
    """Return the name that the engine reports."""
    commands = "uci\nquit\n"
    command = read_engine_spec(text).command
    answer = subprocess.run(command, input=commands, capture_output=True, text=True, timeout=20)
    return next(line for line in answer.stdout.splitlines() if "id name" in line)[8:]


def about(rungs: list[str]) -> dict[str, Any]:
    """Return the engines, limits and options that the ladder was made with."""
    engines = [text for text in rungs if text.partition(":")[0] in FAMILIES]
    names = {text.partition("~")[0] for text in engines}
    return {
        "engines": sorted({engine_name(name) for name in names}),
        "limits": {name: read_engine_spec(name).limit for name in sorted(names)},
        "options": "Threads 1, Hash 16",
        "date": time.strftime("%Y-%m-%d"),
    }


def write(path: Path, matches: list[Match]) -> None:
    """Write the file with all matches so far."""
    present = sorted({name for match in matches for name in (match["a"], match["b"])})
    plain = {
        "name": path.stem,
        "game": "chess",
        "anchor": list(ANCHOR),
        "about": about(present),
        "rungs": fit(matches, present),
        "matches": matches,
    }
    write_atomic(path, (json.dumps(plain, indent=1) + "\n").encode("ascii"))


def main() -> None:
    """Play the matches, and fit and write the ladder after each."""
    parser = argparse.ArgumentParser(description="make the chess ladder")
    parser.add_argument("--rungs", default=",".join(RUNGS), help="players, the weakest first")
    parser.add_argument("--games", type=int, default=100, help="number of games in each match")
    parser.add_argument(
        "--apart", type=int, default=2, help="largest distance of two rungs that play each other"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    rungs = options.rungs.split(",")
    matches = json.loads(options.out.read_text())["matches"] if options.out.exists() else []
    for apart in range(1, options.apart + 1):
        for number in range(len(rungs) - apart):
            started = time.monotonic()
            seed = options.seed + 1000 * apart + number
            a, b = rungs[number], rungs[number + apart]
            matches.append(play(a, b, games=options.games, seed=seed))
            print(matches[-1], f"{time.monotonic() - started:.0f} s", flush=True)
            write(options.out, matches)


if __name__ == "__main__":
    main()
