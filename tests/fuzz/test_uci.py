"""Hostile lines to the chess engine: every `go` is answered by a move."""

import io
from pathlib import Path

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzing import cases, hostile, limits
from random_runs import random_run
from rookery.interface.cli.app import run

FENS = ("fen 8/8/8/8/8/5k2/6q1/7K w - - 0 1", "fen 6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1")
STARTS = st.sampled_from(("startpos", *FENS)) | hostile.map(lambda text: f"fen {text}")
MOVES = st.lists(st.sampled_from(("e2e4", "e7e5", "g1f3", "a7a8q", "0000")) | hostile, max_size=4)
POSITIONS = st.tuples(STARTS, MOVES).map(lambda parts: f"position {parts[0]} moves {parts[1]}")
OPTIONS = st.tuples(st.sampled_from(("MultiPV", "Batch", "Ponder", "x")), hostile).map(
    lambda parts: f"setoption name {parts[0]} value {parts[1]}"
)
GO = st.sampled_from(("go nodes 3", "go nodes 1 searchmoves e2e4", "go movetime 1", "go depth 1"))
LINES = st.lists(GO | POSITIONS | OPTIONS | hostile | st.just("isready"), min_size=1, max_size=8)


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = random_run(tmp_path_factory.mktemp("fuzz") / "chess", "chess")
    answer(path, ["go nodes 3"])  # compiles, without the limit of a case
    return path


def answer(net: Path, lines: list[str]) -> list[str]:
    """Send lines to the engine, and return what it says."""
    with pytest.MonkeyPatch.context() as patch:
        out = io.StringIO()
        patch.setattr("sys.stdin", io.StringIO("\n".join([*lines, "quit", ""])))
        patch.setattr("sys.stdout", out)
        assert run(["uci", str(net)]) == 0
    return out.getvalue().splitlines()


@cases(0.01)
@given(LINES)
def test_every_search_ends_with_a_legal_move(net: Path, lines: list[str]) -> None:
    sent = [" ".join(line.split()) for line in lines if line.strip() not in ("quit", "go")]
    with limits():
        said = answer(net, sent)
    answers = [line for line in said if line.startswith("bestmove")]
    assert len(answers) == sum(line.startswith("go ") for line in sent)
    for line in answers:
        move = line.split()[1]
        assert move == "0000" or chess.Move.from_uci(move)
