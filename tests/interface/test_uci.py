"""`rookery uci`: driven by python-chess as chess programs do it, and by hand with bad input."""

import importlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from command_line import Mistake, Rookery
from rookery.base import ConfigError
from rookery.games import DRAW, LOSS, ONGOING, WIN, load_game
from rookery.interface.uci.command_queue import QUIT, CommandQueue
from rookery.interface.uci.limits import Limits, read_limits
from rookery.interface.uci.options import Options
from rookery.interface.uci.report import centipawns, permille, score
from rookery.search import AnalysisSearch, Variation, nodes_in_memory

PATIENCE = 300.0
"""Seconds: the first start on a machine compiles."""
TRIES = 5
"""A shared machine may stand still for a moment: the best of several times counts."""
MATE_IN_1 = "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1"
MATE_IN_2 = "kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1"


@pytest.fixture(scope="module")
def lib() -> SimpleNamespace:
    """python-chess."""
    chess = pytest.importorskip("chess", reason="needs python-chess, the extra `chess`")
    engine = importlib.import_module("chess.engine")
    return SimpleNamespace(chess=chess, engine=engine, Limit=engine.Limit)


@pytest.fixture(scope="module")
def engine(lib: Any, chess_run: Path, environment: dict[str, str]) -> Iterator[Any]:
    command = [sys.executable, "-m", "rookery", "uci", str(chess_run)]
    started = time.perf_counter()
    opened = lib.engine.SimpleEngine.popen_uci(command, env=environment, timeout=PATIENCE)
    assert time.perf_counter() - started < 60, "the handshake must not wait for the net"
    opened.configure({"Batch": 4, "Hash": 64})
    opened.ping()
    yield opened
    opened.quit()


def test_the_engine_says_who_it_is(engine: Any) -> None:
    assert engine.id["name"].startswith("Rookery") and "chess" in engine.id["name"]
    assert {"Hash", "MultiPV", "Ponder", "UCI_ShowWDL", "Threads"} <= set(engine.options)


def test_nodes_are_counted(engine: Any, lib: Any) -> None:
    found = engine.analyse(lib.chess.Board(), lib.Limit(nodes=120), game=object())
    assert found["nodes"] == 120 and found["depth"] >= 1 and found["seldepth"] >= found["depth"]
    assert found["pv"][0] in lib.chess.Board().legal_moves and "hashfull" in found


def test_several_lines_are_told_with_their_chances(engine: Any, lib: Any) -> None:
    engine.configure({"UCI_ShowWDL": True})
    board = lib.chess.Board()
    found = engine.analyse(board, lib.Limit(nodes=100), multipv=3)
    assert [line["multipv"] for line in found] == [1, 2, 3]
    assert len({line["pv"][0] for line in found}) == 3
    assert all(sum(line["wdl"].white()) == 1000 for line in found)


@pytest.mark.parametrize(("position", "moves"), [(MATE_IN_1, 1), (MATE_IN_2, 2)])
def test_mates_are_announced(engine: Any, lib: Any, position: str, moves: int) -> None:
    board = lib.chess.Board(position)
    found = engine.analyse(board, lib.Limit(mate=moves, time=60), game=object())
    assert found["score"].white().mate() == moves and len(found["pv"]) == 2 * moves - 1


def test_a_move_takes_the_time_it_is_given(engine: Any, lib: Any) -> None:
    taken = []
    for _ in range(TRIES):
        start = time.perf_counter()
        played = engine.play(lib.chess.Board(), lib.Limit(time=0.6), game=object())
        taken.append(time.perf_counter() - start)
        assert played.move in lib.chess.Board().legal_moves
    assert 0.2 < min(taken) < 1.5


def test_depth_ends_a_search(engine: Any, lib: Any) -> None:
    assert engine.analyse(lib.chess.Board(), lib.Limit(depth=2), game=object())["depth"] >= 2


def test_only_some_moves_are_searched(engine: Any, lib: Any) -> None:
    board = lib.chess.Board()
    move = board.parse_san("a4")
    assert engine.play(board, lib.Limit(nodes=50), root_moves=[move]).move == move


def test_an_endless_search_stops_when_asked(engine: Any, lib: Any) -> None:
    delays = []
    for _ in range(TRIES):
        with engine.analysis(lib.chess.Board(), game=object()) as analysis:
            time.sleep(0.3)
            start = time.perf_counter()
            analysis.stop()
            assert analysis.wait().move in lib.chess.Board().legal_moves
            delays.append(time.perf_counter() - start)
    assert min(delays) < 0.1


def test_pondering_ends_after_the_hit(engine: Any, lib: Any) -> None:
    board, game_id = lib.chess.Board(), object()
    limit = lib.Limit(white_clock=10, black_clock=10)
    first = engine.play(board, limit, ponder=True, game=game_id)
    board.push(first.move)
    assert first.ponder in board.legal_moves
    time.sleep(0.3)
    board.push(first.ponder)  # as expected: a hit
    second = engine.play(board, limit, ponder=True, game=game_id)
    board.push(second.move)
    board.push(next(move for move in board.legal_moves if move != second.ponder))  # a miss
    third = engine.play(board, limit, game=game_id)
    assert third.move in board.legal_moves


@pytest.mark.parametrize("opponent", ["stockfish", "fairy-stockfish", "gnuchess"])
def test_a_game_is_played_to_its_end(engine: Any, lib: Any, opponent: str) -> None:
    path = shutil.which(opponent, path=f"{os.environ['PATH']}:/usr/games")
    if path is None:
        pytest.skip(f"{opponent} is not installed here")
    command = [path, "--uci"] if opponent == "gnuchess" else [path]
    board, game_id = lib.chess.Board(), object()
    with lib.engine.SimpleEngine.popen_uci(command, timeout=60) as other:
        while not board.is_game_over(claim_draw=True) and board.ply() < 120:
            ours = board.turn == lib.chess.WHITE
            side, limit = (engine, lib.Limit(nodes=24)) if ours else (other, lib.Limit(depth=2))
            board.push(side.play(board, limit, game=game_id).move)
    assert board.ply() > 4


def test_no_game_is_lost_on_time(engine: Any, lib: Any) -> None:
    assert any(is_played_in_time(engine, lib) for _ in range(TRIES))


def is_played_in_time(engine: Any, lib: Any) -> bool:
    """Play a game against a random mover that answers at once."""
    clock, increment = 4.0, 0.1
    board, game_id = lib.chess.Board(), object()
    while board.ply() < 60 and not board.is_game_over():
        limit = lib.Limit(
            white_clock=clock, black_clock=clock, white_inc=increment, black_inc=increment
        )
        start = time.perf_counter()
        board.push(engine.play(board, limit, game=game_id).move)
        clock -= time.perf_counter() - start
        if clock <= 0:
            return False
        clock += increment
        if not board.is_game_over():
            board.push(list(board.legal_moves)[board.ply() % board.legal_moves.count()])
    return True


def talk(rookery: Rookery, run: Path, *lines: str) -> list[str]:
    """What the engine says to `lines`; the end of input is `quit`."""
    answer = rookery("uci", run, typed="\n".join(["setoption name Batch value 2", *lines]) + "\n")
    assert answer.code == 0 and "Traceback" not in answer.err
    return answer.out.splitlines()


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("position fen 8/8/8 w - - 0 1", "8 ranks"),
        ("position fen 8/8/8/8/8/8/8/8 w - - 0 1", "kings"),
        ("position fen", "position fen FEN"),
        ("position", "position startpos"),
        ("position startpos moves e2e5", "e2e5 is not a legal move"),
        ("position fen e2e4", "'e2e4' is not a FEN"),
        ("position startpos moves e2e4 e2e4", "e2e4 is not a legal move"),
        ("setoption name Hsah value 64", "did you mean Hash?"),
        ("setoption name Hash value many", "expected a number"),
        ("setoption name UCI_ShowWDL value 7", "expected true or false"),
        ("setoption", "setoption name NAME"),
        ("jump", "unknown command jump"),
    ],
)
def test_bad_input_is_told_and_life_goes_on(
    rookery: Rookery, chess_run: Path, line: str, found: str
) -> None:
    out = talk(rookery, chess_run, line, "isready")
    told = [text for text in out if text.startswith("info string")]
    assert len(told) == 1 and found in told[0] and out[-1] == "readyok"


def test_more_nodes_than_anybody_waits_for_may_be_asked_for(
    rookery: Rookery, chess_run: Path
) -> None:
    out = talk(rookery, chess_run, "go nodes 99999999999", "stop")
    assert out[-1].startswith("bestmove ")


def test_a_hash_that_does_not_fit_is_told_and_the_default_taken(
    rookery: Rookery, chess_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def search(*arguments: Any, max_nodes: int, **more: Any) -> AnalysisSearch:
        if max_nodes > nodes_in_memory(load_game("chess"), 1024):
            raise MemoryError("Unable to allocate")
        return AnalysisSearch(*arguments, max_nodes=max_nodes, **more)

    monkeypatch.setattr("rookery.interface.uci.engine.AnalysisSearch", search)
    out = talk(rookery, chess_run, "setoption name Hash value 65536", "isready", "go nodes 5")
    assert out[:2] == [
        "info string not enough memory for Hash 65536",
        "info string using Hash 512 instead",
    ]
    assert out[2] == "readyok" and out[-1].startswith("bestmove ")


def test_too_little_gpu_memory_is_told_in_one_line(
    rookery: Rookery, chess_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def search(*arguments: Any, **more: Any) -> AnalysisSearch:
        raise torch.OutOfMemoryError("CUDA out of memory, on purpose")

    monkeypatch.setattr("rookery.interface.uci.engine.AnalysisSearch", search)
    out = talk(rookery, chess_run, "isready")
    assert out == ["info string out of GPU memory; use a smaller network, or --devices cpu"]


def test_a_chess_program_that_is_gone_ends_the_engine() -> None:
    def introduce() -> None:
        raise BrokenPipeError

    assert CommandQueue(iter(["isready", "uci", "isready"]), introduce).take() == "isready"
    commands = CommandQueue(iter(["uci", "isready"]), introduce)
    assert commands.take() == QUIT


@pytest.mark.parametrize("limit", ["nodes 1", "nodes 20", "movetime 1", "depth 1"])
def test_a_mate_in_one_is_played_at_any_limit(
    rookery: Rookery, chess_run: Path, limit: str
) -> None:
    out = talk(rookery, chess_run, f"position fen {MATE_IN_1}", f"go {limit}")
    assert out[-1] == "bestmove d1d8"


def test_go_without_a_position_is_the_start(rookery: Rookery, chess_run: Path) -> None:
    out = talk(rookery, chess_run, "go nodes 5")
    assert out[-1].startswith("bestmove ") and "0000" not in out[-1]


def test_go_with_nonsense_still_answers(rookery: Rookery, chess_run: Path) -> None:
    out = talk(rookery, chess_run, "go nodes many", "stop")
    assert any("not understood: nodes many" in line for line in out)
    assert out[-1].startswith("bestmove ")


@pytest.mark.parametrize(
    ("position", "score"),
    [("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", "mate 0"), ("8/8/8/8/8/4k3/4p3/4K3 w - - 0 1", "cp 0")],
)
def test_a_game_that_is_over_has_no_move(
    rookery: Rookery, chess_run: Path, position: str, score: str
) -> None:
    out = talk(rookery, chess_run, f"position fen {position}", "go nodes 5")
    assert out == [f"info depth 0 score {score}", "bestmove (none)"]


@pytest.mark.parametrize("end", ["stop", "go nodes 1"])
def test_an_endless_search_of_what_is_over_waits_for_its_end(
    rookery: Rookery, chess_run: Path, end: str
) -> None:
    mate = "position fen 7k/6Q1/6K1/8/8/8/8/8 b - - 0 1"
    out = talk(rookery, chess_run, mate, "go infinite", "isready", end)
    over = ["info depth 0 score mate 0", "bestmove (none)"]
    assert out == [over[0], "readyok", over[1]] + (over if end != "stop" else [])


def test_a_draw_that_nobody_claimed_is_played_on(rookery: Rookery, chess_run: Path) -> None:
    there = "g1f3 g8f6 f3g1 f6g8 " * 3
    out = talk(rookery, chess_run, f"position startpos moves {there}", "go nodes 5", "isready")
    assert out[-1].startswith("bestmove ") or out[-2].startswith("bestmove ")
    assert not any("string" in line for line in out)


def test_only_the_protocol_is_on_stdout(chess_run: Path, environment: dict[str, str]) -> None:
    command = [sys.executable, "-m", "rookery", "uci", str(chess_run)]
    typed = "uci\nsetoption name Batch value 2\nisready\nposition startpos\ngo nodes 9\nquit\n"
    done = subprocess.run(
        command, env=environment, input=typed, capture_output=True, text=True, timeout=PATIENCE
    )
    words = {line.split()[0] for line in done.stdout.splitlines()}
    assert done.returncode == 0 and done.stderr == ""
    assert words == {"id", "option", "uciok", "readyok", "info", "bestmove"}


def test_other_games_are_refused(mistake: Mistake, finished_run: Path) -> None:
    assert "plays tictactoe, which is not chess" in mistake("uci", finished_run)


def test_a_run_that_is_not_there_is_a_mistake(mistake: Mistake) -> None:
    assert "unknown run folder" in mistake("uci", "nowhere")


def test_go_is_read() -> None:
    words = "wtime 1000 btime 2000 winc 10 searchmoves e2e4 d2d4 nodes 5 movestogo x"
    limits, unknown = read_limits(words.split(" "))
    assert (limits.wtime, limits.btime, limits.nodes) == (1000, 2000, 5)
    assert limits.moves == ("e2e4", "d2d4") and unknown == ["movestogo", "x"]
    assert Limits().is_open and Limits(infinite=True, nodes=4).is_open and not limits.is_open


@pytest.mark.parametrize("left", [-50, 0, 40, 150, 1000, 60_000])
@pytest.mark.parametrize("moves_to_go", [None, 1, 40])
def test_there_is_always_time_left(left: int, moves_to_go: int | None) -> None:
    limits = Limits(btime=left, binc=500, movestogo=moves_to_go)
    seconds = limits.seconds(is_black=True, overhead=100)
    assert seconds is not None and 0 <= seconds <= max(0, left - 100) / 2000
    assert limits.seconds(is_black=False, overhead=100) is None


def test_options_are_checked() -> None:
    options = Options()
    assert options.set(["name", "multipv", "value", "4"]) == "MultiPV"
    assert options.number("MultiPV") == 4
    with pytest.raises(ConfigError, match="expected a number from 1 to 500"):
        options.set(["name", "MultiPV", "value", "0"])


def line(proof: int = ONGOING, plies: int = 0, value: float = 0.0, draw: float = 0.2) -> Variation:
    return Variation((1,), 5, value, draw, proof, plies)


def test_scores_are_what_chess_programs_expect() -> None:
    assert centipawns(0.0) == 0 and centipawns(0.5) == -centipawns(-0.5) == 191
    assert score(line(WIN, 1)) == "mate 1" and score(line(WIN, 5)) == "mate 3"
    assert score(line(LOSS, 2)) == "mate -1" and score(line(DRAW)) == "cp 0"
    assert permille(line(value=0.5)) == "650 200 150" and centipawns(1.0) == -centipawns(-1.0)
