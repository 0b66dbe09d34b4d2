"""Engines as players: real ones where they are installed, and fake ones that misbehave."""

import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import psutil
import pytest

from rookery.arena import MatchPlan, RandomPlayer, named_player, play_part
from rookery.arena.player import FORFEIT
from rookery.arena.players.engine import EngineSpec
from rookery.arena.players.engine_pool import MOST_FAULTS, EnginePool
from rookery.arena.players.engine_specs import read_engine, skill_of
from rookery.arena.players.uci import UciPlayer
from rookery.base import ConfigError
from rookery.games import LOSS, ONGOING, WIN, load_game

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
COMPLAINTS = {
    "crashes": "ended by itself (exit code 3)",
    "hangs": "did not move within 1 s",
    "cheats": "answered 'e2e5'",
    "babbles": "no legal move",
    "resigns": "answered '(none)'",
}


def fake(tmp_path: Path, reply: str, *, seconds: float = 1.0) -> EngineSpec:
    """An engine that does `reply` when it is to move."""
    script = tmp_path / "engine.py"
    script.write_text(FAKE.format(reply=reply))
    return EngineSpec("fake", (sys.executable, str(script)), (), "depth 1", move_seconds=seconds)


def test_an_engine_is_told_the_game_and_its_move_is_played(tmp_path: Path) -> None:
    player = UciPlayer(CHESS, fake(tmp_path, FIRST_MOVE), engines=1)
    (action,) = player.choose(CHESS.new_states(1))
    assert CHESS.write_move(CHESS.new_states(1)[0], action) == "a2a3"
    assert player.faults == []


def test_only_chess_is_spoken(tmp_path: Path) -> None:
    other = load_game("tictactoe")
    other = replace(other, notation=replace(other.notation, write_position=str))
    with pytest.raises(ConfigError, match="plays chess, not tictactoe"):
        UciPlayer(other, fake(tmp_path, FIRST_MOVE))


def test_an_engine_has_a_minute_beyond_its_time() -> None:
    assert read_engine("uci:cat?movetime=90000").move_seconds == 150
    assert read_engine("uci:cat?depth=3&Hash=64").move_seconds == 60
    with pytest.raises(ConfigError, match="engines are named as in"):
        read_engine("uci:cat?movetime=long")


def test_options_are_set_whatever_their_case(tmp_path: Path) -> None:
    spec = fake(tmp_path, FIRST_MOVE)
    player = UciPlayer(CHESS, replace(spec, options=(("skill level", "3"),)), engines=1)
    player.choose(CHESS.new_states(1))
    assert player.faults == []


def test_an_option_that_the_engine_does_not_have_is_a_mistake(tmp_path: Path) -> None:
    before = set(psutil.Process().children())
    spec = replace(fake(tmp_path, FIRST_MOVE), options=(("Skill_Level", "3"),))
    with pytest.raises(ConfigError, match="fake: the engine has no option 'Skill_Level'"):
        UciPlayer(CHESS, spec, engines=1).choose(CHESS.new_states(1))
    assert set(psutil.Process().children()) <= before


@pytest.mark.parametrize("fault", REPLIES)
def test_an_engine_that_fails_loses_its_games_and_is_named(tmp_path: Path, fault: str) -> None:
    player = UciPlayer(CHESS, fake(tmp_path, REPLIES[fault]), engines=2)
    opening = MatchPlan(2, 1, 0, book=True).openings(CHESS, 0)
    games = play_part(CHESS, RandomPlayer(CHESS, 1), player, opening)
    assert [each.result for each in games] == [WIN, WIN]
    assert all(each.fault.startswith("fake ") for each in games)
    assert all(COMPLAINTS[fault] in each.fault for each in games)
    assert [each.from_plain(each.to_plain()) for each in games] == games


def test_a_game_that_the_other_player_forfeits_is_won(tmp_path: Path) -> None:
    player = UciPlayer(CHESS, fake(tmp_path, REPLIES["cheats"]), engines=1)
    opening = MatchPlan(2, 1, 0, book=True).openings(CHESS, 0)
    games = play_part(CHESS, player, RandomPlayer(CHESS, 1), opening)
    assert [each.result for each in games] == [LOSS, LOSS]


def test_an_engine_that_failed_once_is_started_again(tmp_path: Path) -> None:
    spec = fake(tmp_path, f'sys.exit() if "e2e4" in position else {FIRST_MOVE}')
    pool = EnginePool(spec, 1)
    answers = pool.answer(["startpos moves e2e4", "startpos", "startpos moves e2e4", "startpos"])
    assert [answer == "a2a3" for answer in answers] == [False, True, False, True]


def test_an_engine_that_always_fails_is_given_up(tmp_path: Path) -> None:
    pool = EnginePool(fake(tmp_path, REPLIES["crashes"]), 1)
    answers = pool.answer(["startpos"] * (MOST_FAULTS + 2))
    assert "ended by itself" in str(answers[0])
    assert "not started again" in str(answers[-1])


def test_what_does_not_speak_uci_forfeits(monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_engines_do_not_outlive_us_even_when_they_hang(tmp_path: Path, sent: int) -> None:
    spec = fake(tmp_path, REPLIES["hangs"], seconds=60)
    code = (
        "from rookery.arena.players.engine import EngineSpec\n"
        "from rookery.arena.players.engine_pool import EnginePool\n"
        f"EnginePool(EngineSpec('fake', {spec.command!r}, (), 'depth 1'), 1).answer(['startpos'])"
    )
    parent = psutil.Popen([sys.executable, "-c", code])
    children = wait_for(lambda: parent.children())
    parent.send_signal(sent)
    parent.wait(30)
    assert wait_for(lambda: all(is_gone(child) for child in children))


def wait_for(look, seconds: float = 60.0):  # type: ignore[no-untyped-def]
    """What `look` sees, once that is something."""
    end = time.monotonic() + seconds
    while not (seen := look()) and time.monotonic() < end:
        time.sleep(0.05)
    return seen


def is_gone(process: psutil.Process) -> bool:
    """Whether the process has ended, whoever is to bury it."""
    return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE


@needs_stockfish
def test_stockfish_mates_in_one() -> None:
    state = CHESS.position("6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1")
    states = CHESS.blank_states(1)
    states[0] = state
    player = UciPlayer(CHESS, read_engine("uci:/usr/games/stockfish?Hash=16&depth=4"), engines=1)
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
def test_an_engine_reads_what_the_player_writes_of_a_long_game() -> None:
    """The board that Stockfish has after `position` is ours."""
    stream = np.random.default_rng(5)
    player = UciPlayer(CHESS, read_engine("stockfish:1350"), engines=1)
    state, line = CHESS.new_states(1)[0], list[int]()
    written, ours = list[str](), list[str]()
    while len(line) < 120 and CHESS.rules.outcome(state) == ONGOING:
        line.append(int(stream.choice(CHESS.legal_actions(state))))
        CHESS.rules.play(state, line[-1])
        written.append(player._position(tuple(line)))
        ours.append(CHESS.write_position(state).rsplit(" ", 3)[0])
    assert len(line) > 60
    assert theirs(written) == ours


def theirs(positions: list[str]) -> list[str]:
    """Pieces, side and castling as Stockfish understands positions."""
    told = "".join(f"position {position}\nd\n" for position in positions) + "quit\n"
    command = read_engine("stockfish:1350").command
    answer = subprocess.run(command, input=told, capture_output=True, text=True, timeout=60)
    fens = [line for line in answer.stdout.splitlines() if line.startswith("Fen: ")]
    return [" ".join(fen.split()[1:4]) for fen in fens]


def test_a_missing_engine_is_one_line_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rookery.arena.players.engine_specs.FOLDERS", "")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ConfigError, match="apt install stockfish"):
        named_player("stockfish:1350", CHESS, seed=1)
    with pytest.raises(ConfigError, match="apt install fairy-stockfish"):
        named_player("fairy:-20", CHESS, seed=1)


@pytest.mark.parametrize(
    "text",
    [
        "stockfish:900",
        "stockfish:",
        "stockfish",
        "fairy:-21",
        "fairy:x",
        "uci:",
        "uci:cat?Hash",
        "minimax:x",
        "random:3",
        "random~0",
        "random~100",
        "minimax:1~x",
    ],
)
def test_texts_that_make_no_sense_are_told(text: str) -> None:
    with pytest.raises(ConfigError):
        named_player(text, CHESS, seed=1)


def test_engines_play_chess_only() -> None:
    with pytest.raises(ConfigError, match="plays chess, not connect4"):
        UciPlayer(load_game("connect4"), EngineSpec("cat", ("cat",), (), "depth 1"))


def test_options_and_limits_of_any_engine_stand_behind_the_question_mark() -> None:
    spec = read_engine("uci:cat -u?Hash=64&nodes=1000&Skill Level=3")
    assert spec.command[0].endswith("cat") and spec.command[1:] == ("-u",)
    assert spec.options == (("Hash", "64"), ("Skill Level", "3"))
    assert spec.limit == "nodes 1000"


def test_skill_follows_from_elo_as_in_stockfish() -> None:
    assert skill_of(1350) == pytest.approx(0, abs=0.02)
    assert skill_of(2850) == pytest.approx(18.4, abs=0.1)
    assert int(skill_of(1500)) == 1 and int(skill_of(2000)) == 6


def test_a_diluted_player_plays_some_moves_at_random() -> None:
    states = CHESS.blank_states(400)
    states[:] = CHESS.position("6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1")
    mate = CHESS.read_move(states[0], "d1d8")
    player = named_player("minimax:1~40", CHESS, seed=1)
    assert player.name == "minimax:1~40"
    assert 0.5 < (player.choose(states) == mate).mean() < 0.75
