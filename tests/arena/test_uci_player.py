"""UCI engines as players: Stockfish if it is installed, and fake engines that misbehave."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import numpy as np
import psutil
import pytest

from rookery.arena import (
    FORFEIT,
    MatchPlan,
    RandomPlayer,
    named_player,
    play_part,
)
from rookery.arena.players.engine import MAX_FAILURES, EnginePool
from rookery.arena.players.engine_spec import EngineSpec, read_engine_spec, skill_of
from rookery.arena.players.uci import UciPlayer
from rookery.base import ConfigError
from rookery.games import LOSS, ONGOING, WIN, load_game

Found = TypeVar("Found")
CHESS = load_game("chess")
HAS_STOCKFISH = shutil.which("stockfish", path="/usr/games:" + os.environ["PATH"]) is not None
needs_stockfish = pytest.mark.skipif(not HAS_STOCKFISH, reason="stockfish is not installed")

FAKE = """
import sys, time
for line in sys.stdin:
    words = line.split()
    if words[:1] == ["uci"]: print("option name Skill Level type spin\\nuciok", flush=True)
    if words[:1] == ["isready"]: print("readyok", flush=True)
    if words[:1] == ["position"]: position = line.strip()
    if words[:1] == ["go"]:
        {reply}
"""
FIRST_MOVE = 'print("info string hm\\nbestmove " + "a2a3", flush=True)'
REPLIES = {
    "crashes": "sys.exit(3)",
    "hangs": "time.sleep(60)",
    "cheats": 'print("bestmove e2e5", flush=True)',
    "babbles": 'print("bestmove \\x00\\xff?!", flush=True)',
    "resigns": 'print("bestmove (none)", flush=True)',
}
MESSAGES = {
    "crashes": "exited with code 3",
    "hangs": "did not move within 1 s",
    "cheats": "answered 'e2e5'",
    "babbles": "no legal move",
    "resigns": "answered '(none)'",
}


def fake(tmp_path: Path, reply: str, *, seconds: float = 1.0) -> EngineSpec:
    """Return an engine that executes `reply` on `go`."""
    script = tmp_path / "engine.py"
    script.write_text(FAKE.format(reply=reply))
    return EngineSpec("fake", (sys.executable, str(script)), (), "depth 1", timeout_seconds=seconds)


def test_the_move_of_an_engine_is_played(tmp_path: Path) -> None:
    player = UciPlayer(CHESS, fake(tmp_path, FIRST_MOVE), engines=1)
    (action,) = player.choose(CHESS.new_states(1))
    assert CHESS.write_move(CHESS.new_states(1)[0], action) == "a2a3"
    assert player.faults == []


def test_an_engine_plays_no_other_game(tmp_path: Path) -> None:
    other = load_game("tictactoe")
    other = replace(other, notation={**other.notation, "write_position": str})
    with pytest.raises(ConfigError, match="plays chess, not tictactoe"):
        UciPlayer(other, fake(tmp_path, FIRST_MOVE))


def test_the_timeout_is_a_minute_more_than_the_time_per_move() -> None:
    assert read_engine_spec("uci:cat?movetime=90000").timeout_seconds == 150
    assert read_engine_spec("uci:cat?depth=3&Hash=64").timeout_seconds == 60
    with pytest.raises(ConfigError, match=r"movetime in uci:cat.* expected a whole number"):
        read_engine_spec("uci:cat?movetime=long")


def test_names_of_options_ignore_case(tmp_path: Path) -> None:
    spec = fake(tmp_path, FIRST_MOVE)
    player = UciPlayer(CHESS, replace(spec, options=(("skill level", "3"),)), engines=1)
    player.choose(CHESS.new_states(1))
    assert player.faults == []


def test_an_unknown_option_is_an_error_and_leaves_no_process(tmp_path: Path) -> None:
    before = set(psutil.Process().children())
    spec = replace(fake(tmp_path, FIRST_MOVE), options=(("Skill_Level", "3"),))
    with pytest.raises(ConfigError, match="fake: the engine has no option 'Skill_Level'"):
        UciPlayer(CHESS, spec, engines=1).choose(CHESS.new_states(1))
    assert set(psutil.Process().children()) <= before


@pytest.mark.parametrize("fault", REPLIES)
def test_an_engine_that_fails_forfeits_its_games_with_a_reason(tmp_path: Path, fault: str) -> None:
    player = UciPlayer(CHESS, fake(tmp_path, REPLIES[fault]), engines=2)
    opening = MatchPlan(2, 1, 0, book=True).openings(CHESS, 0)
    games = play_part(CHESS, RandomPlayer(CHESS, 1), player, opening)
    assert [each.result for each in games] == [WIN, WIN]
    assert all(each.fault.startswith("fake ") for each in games)
    assert all(MESSAGES[fault] in each.fault for each in games)
    assert [each.from_plain(each.to_plain()) for each in games] == games


def test_a_forfeit_by_the_first_player_is_a_loss(tmp_path: Path) -> None:
    player = UciPlayer(CHESS, fake(tmp_path, REPLIES["cheats"]), engines=1)
    opening = MatchPlan(2, 1, 0, book=True).openings(CHESS, 0)
    games = play_part(CHESS, player, RandomPlayer(CHESS, 1), opening)
    assert [each.result for each in games] == [LOSS, LOSS]


def test_an_engine_that_failed_once_is_started_again(tmp_path: Path) -> None:
    spec = fake(tmp_path, f'sys.exit() if "e2e4" in position else {FIRST_MOVE}')
    pool = EnginePool(spec, 1)
    moves = pool.best_moves(["startpos moves e2e4", "startpos", "startpos moves e2e4", "startpos"])
    assert [move == "a2a3" for move in moves] == [False, True, False, True]


def test_an_engine_that_always_fails_is_not_started_again(tmp_path: Path) -> None:
    pool = EnginePool(fake(tmp_path, REPLIES["crashes"]), 1)
    moves = pool.best_moves(["startpos"] * (MAX_FAILURES + 2))
    assert "exited" in str(moves[0])
    assert "not started again" in str(moves[-1])


def test_a_program_that_is_not_a_uci_engine_forfeits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rookery.arena.players.engine.START_SECONDS", 0.5)
    player = UciPlayer(CHESS, EngineSpec("cat", ("cat",), (), "depth 1"), engines=1)
    assert player.choose(CHESS.new_states(1)).tolist() == [FORFEIT]
    assert "did not say uciok" in player.faults[0]


def test_processes_end_with_their_pool(tmp_path: Path) -> None:
    before = set(psutil.Process().children())
    player = UciPlayer(CHESS, fake(tmp_path, FIRST_MOVE), engines=2)
    player.choose(CHESS.new_states(4))
    assert len(set(psutil.Process().children()) - before) == 2
    del player
    assert set(psutil.Process().children()) <= before


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGKILL])
def test_a_hanging_engine_dies_with_its_parent(tmp_path: Path, sent: int) -> None:
    spec = fake(tmp_path, REPLIES["hangs"], seconds=60)
    code = (
        "from rookery.arena.players.engine import EnginePool, EngineSpec\n"
        f"spec = EngineSpec('fake', {spec.command!r}, (), 'depth 1')\n"
        "EnginePool(spec, 1).best_moves(['startpos'])"
    )
    parent = psutil.Popen([sys.executable, "-c", code])
    children = wait_for(lambda: parent.children())
    parent.send_signal(sent)
    parent.wait(30)
    assert wait_for(lambda: all(is_gone(child) for child in children))


def wait_for(read: Callable[[], Found], seconds: float = 60.0) -> Found:
    """Return the value of `read` as soon as it is true, or at the end of the time."""
    end = time.monotonic() + seconds
    while not (value := read()) and time.monotonic() < end:
        time.sleep(0.05)
    return value


def is_gone(process: psutil.Process) -> bool:
    """Whether the process has ended, reaped or not."""
    return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE


@needs_stockfish
def test_stockfish_mates_in_one() -> None:
    state = CHESS.position("6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1")
    states = CHESS.blank_states(1)
    states[0] = state
    player = UciPlayer(
        CHESS, read_engine_spec("uci:/usr/games/stockfish?Hash=16&depth=4"), engines=1
    )
    (action,) = player.choose(states)
    assert CHESS.write_move(state, action) == "d1d8"


@needs_stockfish
def test_stockfish_beats_random_from_both_sides() -> None:
    openings = MatchPlan(4, 1, 0, book=True).openings(CHESS, 0)
    player = named_player("stockfish:1350", CHESS, seed=1)
    games = play_part(CHESS, player, RandomPlayer(CHESS, 1), openings)
    assert [each.result for each in games] == [WIN] * 4
    assert not any(each.fault for each in games)


@needs_stockfish
def test_stockfish_reads_every_position_of_a_long_game() -> None:
    stream = np.random.default_rng(5)
    player = UciPlayer(CHESS, read_engine_spec("stockfish:1350"), engines=1)
    state, line = CHESS.new_states(1)[0], list[int]()
    written, expected = list[str](), list[str]()
    while len(line) < 120 and CHESS.rules.outcome(state) == ONGOING:
        line.append(int(stream.choice(CHESS.legal_actions(state))))
        CHESS.rules.play(state, line[-1])
        written.append(player._position(tuple(line)))
        expected.append(CHESS.write_position(state).rsplit(" ", 3)[0])
    assert len(line) > 60
    assert read_by_stockfish(written) == expected


def read_by_stockfish(positions: list[str]) -> list[str]:
    """Return the pieces, side to move and castling rights that Stockfish reads."""
    commands = "".join(f"position {position}\nd\n" for position in positions) + "quit\n"
    program = read_engine_spec("stockfish:1350").command
    answer = subprocess.run(program, input=commands, capture_output=True, text=True, timeout=60)
    fens = [line for line in answer.stdout.splitlines() if line.startswith("Fen: ")]
    return [" ".join(fen.split()[1:4]) for fen in fens]


def test_a_missing_engine_names_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rookery.arena.players.engine_spec.FOLDERS", "")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ConfigError, match="apt install stockfish"):
        named_player("stockfish:1350", CHESS, seed=1)
    with pytest.raises(ConfigError, match="apt install fairy-stockfish"):
        named_player("fairy:-20", CHESS, seed=1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("stockfish:900", "strength of stockfish .* from 1,350 to 2,850"),
        ("stockfish:", "strength of stockfish .* from 1,350 to 2,850"),
        ("stockfish", "strength of stockfish .* from 1,350 to 2,850"),
        ("fairy:-21", "strength of fairy .* from -20 to 20"),
        ("fairy:x", "strength of fairy .* from -20 to 20"),
        ("uci:", "engines are named as in"),
        ("uci:cat?Hash", "engines are named as in"),
    ],
)
def test_a_malformed_name_is_an_error(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        named_player(text, CHESS, seed=1)


def test_options_and_limits_follow_the_question_mark() -> None:
    spec = read_engine_spec("uci:cat -u?Hash=64&nodes=1000&Skill Level=3")
    assert spec.command[0].endswith("cat") and spec.command[1:] == ("-u",)
    assert spec.options == (("Hash", "64"), ("Skill Level", "3"))
    assert spec.limit == "nodes 1000"


def test_the_skill_level_follows_from_the_elo_as_in_stockfish() -> None:
    assert skill_of(1350) == pytest.approx(0, abs=0.02)
    assert skill_of(2850) == pytest.approx(18.4, abs=0.1)
    assert int(skill_of(1500)) == 1 and int(skill_of(2000)) == 6
