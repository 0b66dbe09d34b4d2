"""Games of OpenSpiel, compared with OpenSpiel itself and with the games that Rookery has, too."""

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chess
import numpy as np
import pytest
from numpy.typing import NDArray

import rookery as rk
from rookery.base import generator, interpreted
from rookery.games import DRAW, LOSS, ONGOING, WIN, Game, State, check_game
from rookery.games.game import from_module
from rookery.games.registry import import_rules

pyspiel = pytest.importorskip("pyspiel")

GAMES = (
    "breakthrough(columns=5,rows=5)",
    "checkers",  # several jumps are several moves of one player
    "clobber(columns=4,rows=3)",
    "dots_and_boxes",  # who completes a box moves again
    "go(board_size=5)",
    "hex(board_size=4)",
    "mancala",
    "nim(pile_sizes=1;3;5)",
    "othello",
    "pentago",
    "twixt(board_size=5)",
    "ultimate_tic_tac_toe",  # the mover may first choose a board
)


def plain_game(name: str) -> Game:
    """Return a game with uncompiled rules, so that a test of many games compiles nothing."""
    with interpreted():
        return from_module(import_rules(f"openspiel:{name}"))


def planes_of(game: Game, state: State) -> NDArray[np.float32]:
    out = np.zeros(game.planes_shape, np.float32)
    game.rules.planes(state, out)
    return out


def random_game(game: Game, spiel: Any, seed: int) -> Iterator[tuple[State, Any, int]]:
    """Play the same random moves in both; yield each position and the player to move."""
    state, other, mover = game.new_states(1)[0], spiel.new_initial_state(), 0
    stream = generator(seed, "test")
    yield state, other, mover
    while not other.is_terminal():
        action = game.num_actions - 1
        if other.current_player() == mover:
            action = int(stream.choice(other.legal_actions()))
            other.apply_action(action)
        game.rules.play(state, action)
        mover = 1 - mover
        yield state, other, mover


@pytest.mark.parametrize("name", GAMES)
def test_rules_agree_with_openspiel(name: str) -> None:
    game, spiel = plain_game(name), pyspiel.load_game(name)
    for state, other, mover in random_game(game, spiel, seed=1):
        assert int(state.mover) == mover
        seen = planes_of(game, state)
        observed = np.array(other.observation_tensor(mover), np.float32)
        np.testing.assert_array_equal(seen[:-2].ravel(), observed)
        passes = not other.is_terminal() and other.current_player() != mover
        assert (seen[-2] == mover).all() and (seen[-1] == passes).all()
        if other.is_terminal():
            assert game.rules.outcome(state) == np.sign(other.returns()[mover])
        else:
            legal = [game.num_actions - 1] if passes else other.legal_actions()
            assert game.rules.outcome(state) == ONGOING and game.legal_actions(state) == legal
            texts = [game.write_move(state, action) for action in legal]
            assert [game.read_move(state, text) for text in texts] == legal
        assert game.position(game.write_position(state)).tobytes() == state.tobytes()


def test_connect4_and_tictactoe_agree_with_openspiel_move_by_move() -> None:
    for ours, theirs in (("connect4", "connect_four"), ("tictactoe", "tic_tac_toe")):
        game, spiel, results = rk.load_game(ours), pyspiel.load_game(theirs), set()
        for seed in range(40):
            for state, other, mover in random_game(game, spiel, seed):
                if other.is_terminal():
                    results.add(outcome := int(other.returns()[mover]))
                    assert game.rules.outcome(state) == outcome
                else:
                    assert game.rules.outcome(state) == ONGOING
                    assert game.legal_actions(state) == other.legal_actions()
        assert LOSS in results and (ours == "connect4" or DRAW in results)


def test_chess_agrees_with_openspiel_move_by_move() -> None:
    """Until OpenSpiel ends a game: its draws by repetition and by the fifty-move rule are ours."""
    spiel = pyspiel.load_game("chess")
    for seed in range(4):
        board, other = rk.Board("chess"), spiel.new_initial_state()
        stream = generator(seed, "test")
        while not other.is_terminal():
            known = {chess_move(other, action): action for action in other.legal_actions()}
            state = board.state
            ours = [board.game.write_move(state, a) for a in board.game.legal_actions(state)]
            assert not board.is_over and sorted(ours) == sorted(known)
            text = str(stream.choice(sorted(ours)))
            other.apply_action(known[text])
            board.push(text)
        white = other.returns()[1]
        assert board.is_over and board.outcome == white


def test_breakthrough_of_the_tutorial_agrees_with_openspiel(tmp_path: Path) -> None:
    """Its first player moves up and OpenSpiel's down: the rows are numbered the other way."""
    page = (Path(__file__).parents[2] / "docs" / "tutorial-own-game.md").read_text()
    path = tmp_path / "breakthrough.py"
    path.write_text(re.findall(r'title="breakthrough.py"\n(.*?)```', page, re.DOTALL)[0])
    spiel = pyspiel.load_game("breakthrough(rows=6,columns=6)")
    with interpreted():
        game = rk.load_game(str(path))
        for seed in range(10):
            state, other, mover = game.new_states(1)[0], spiel.new_initial_state(), 0
            stream = generator(seed, "test")
            while not other.is_terminal():
                known = {breakthrough_move(other, a): a for a in other.legal_actions()}
                ours = {game.write_move(state, a): a for a in game.legal_actions(state)}
                assert game.rules.outcome(state) == ONGOING and sorted(ours) == sorted(known)
                text = str(stream.choice(sorted(ours)))
                other.apply_action(known[text])
                game.rules.play(state, ours[text])
                mover = 1 - mover
            assert game.rules.outcome(state) == other.returns()[mover] == LOSS


def breakthrough_move(state: Any, action: int) -> str:
    """Return a move of OpenSpiel's Breakthrough, as b2c3, from the side of the first player."""
    rows = str.maketrans("123456", "654321")
    return str(state.action_to_string(action)).rstrip("*").translate(rows)


def chess_move(state: Any, action: int) -> str:
    """Return a move of OpenSpiel's chess as UCI writes it."""
    board = chess.Board(str(state))
    return board.parse_san(state.action_to_string(state.current_player(), action)).uci()


def test_a_player_who_moves_again_alternates_with_a_pass() -> None:
    game = plain_game("dots_and_boxes(num_cols=1,num_rows=2)")
    state = game.position("P1(h,0,0) P2(v,0,0) P1(v,0,1)")
    assert game.turn(state) == 1 and game.rules.outcome(state) == ONGOING
    game.rules.play(state, game.read_move(state, "P2(h,1,0)"))  # completes a box
    assert game.turn(state) == 0
    assert [game.write_move(state, a) for a in game.legal_actions(state)] == ["pass"]
    with pytest.raises(rk.IllegalPosition, match="moves again: expected pass"):
        game.read_move(state, "P1(h,2,0)")
    game.rules.play(state, game.read_move(state, "pass"))
    assert game.turn(state) == 1 and "pass" in game.write_position(state)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("kuhn_poker", "it has chance"),
        ("phantom_ttt", "it has hidden information"),
        ("goofspiel", "players move at the same time"),
        ("misere(game=tic_tac_toe)", "transformation of another game"),
        ("quoridor(players=3)", "it is not for two players"),
        ("chess", "17695 moves in a game, expected 1 to 1000"),
        ("mnk(m=30,n=30,k=5)", "900 legal moves in one position"),
        ("connect_four(rows=1000,columns=1000)", "1000000 moves in a game"),
        ("breakthrough(rows=0)", "too small"),
        ("tic_tac_to", "did you mean tic_tac_toe"),
        ("", "not the name of a game"),
        ("../tic_tac_toe", "not the name of a game"),
        ("tic_tac_toe\nname", "not the name of a game"),
        ("tic_tac_toe()()", "not the name of a game"),
        ("x" * 1000, "not the name of a game"),
        ("breakthrough(rows)", "'rows' is not a parameter"),
        ("breakthrough(row=6)", "did you mean rows"),
        ("breakthrough(rows=-1)", "expected a whole number from 0 to 1000"),
        ("breakthrough(rows=9999999999)", "expected a whole number"),
        ("hex(swap=2)", "expected true or false"),
        ("go(komi=nan)", "expected a number such as 7.5"),
        ("twixt(board_size=2)", "OpenSpiel cannot play twixt"),
    ],
)
def test_other_games_are_refused_in_one_line(name: str, message: str) -> None:
    with pytest.raises(rk.ConfigError) as error:
        rk.load_game(f"openspiel:{name}")
    assert message in str(error.value) and "\n" not in str(error.value)


def test_the_name_is_that_of_openspiel_however_it_is_written() -> None:
    game = rk.load_game("openspiel:breakthrough(rows=6, columns=5)")
    assert game.name == "openspiel:breakthrough(columns=5,rows=6)"
    assert rk.load_game(game.name) is game
    assert rk.load_game("openspiel:tic_tac_toe()").name == "openspiel:tic_tac_toe"


def test_a_run_folder_has_a_plain_name(tmp_path: Path) -> None:
    from rookery.api import free_folder

    name = "openspiel:breakthrough(columns=5,rows=6)"
    assert free_folder(tmp_path, name).name == "openspiel-breakthrough-columns-5-rows-6-1"


def test_a_damaged_record_is_read_up_to_its_first_illegal_move() -> None:
    game = plain_game("tic_tac_toe")
    whole, damaged = game.position("x(1,1)"), game.position("x(1,1)")
    damaged.length, damaged.actions[1:] = 65_535, 65_535
    np.testing.assert_array_equal(planes_of(game, damaged), planes_of(game, whole))
    assert game.legal_actions(game.position("x(1,1) o(0,0)")) == [1, 2, 3, 5, 6, 7, 8]


def test_the_contract_holds_compiled() -> None:
    failed = [each for each in check_game(rk.load_game("openspiel:tic_tac_toe")) if not each.passed]
    assert failed == []


def even(planes: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """An evaluator of tic_tac_toe that knows nothing."""
    return np.zeros((len(planes), 10), np.float32), np.full((len(planes), 3), 1 / 3, np.float32)


def test_search_finds_a_win_and_prevents_a_loss() -> None:
    name = "openspiel:tic_tac_toe"
    boards = [rk.Board(name, "0 3 1 4"), rk.Board(name, "4 0 1")]
    states = rk.load_game(name).new_states(2)
    states[0], states[1] = boards[0].state, boards[1].state
    found = rk.search(states, even, simulations=400, game=name)
    assert [int(action) for action in found.actions] == [2, 7]
    assert found.values[0] == WIN


SEARCHES = """
import os
import numpy as np
import rookery as rk

name = "openspiel:tic_tac_toe"
states = rk.load_game(name).random_states(64, seed=1)
expected = rk.search(states, simulations=32, game=name).visits
try:
    print("ready", flush=True)
    while True:
        assert (rk.search(states, simulations=32, game=name).visits == expected).all()
except KeyboardInterrupt:
    os._exit(7)
"""


def test_an_interrupt_in_a_callback_arrives_and_changes_nothing() -> None:
    started = subprocess.Popen([sys.executable, "-c", SEARCHES], stdout=subprocess.PIPE)
    try:
        assert started.stdout is not None and started.stdout.readline() == b"ready\n"
        for _ in range(20):  # one is lost where it interrupts the raising of another
            started.send_signal(signal.SIGINT)
            try:
                assert started.wait(0.5) == 7
                return
            except subprocess.TimeoutExpired:
                continue
        pytest.fail("no interrupt has arrived")
    finally:
        started.kill()
        started.communicate()


def test_training_notes_the_cpu_and_plays_matches(tmp_path: Path) -> None:
    small = {"net.width": 8, "net.depth": 1, "selfplay.games": 8, "selfplay.simulations": "4"}
    small |= {"run.inference": "float32", "learning.precision": "float32"}
    run = rk.train("openspiel:tic_tac_toe", run=tmp_path / "run", iterations=2, settings=small)
    assert run.config.run.devices == "cpu" and len(run.stats()) == 2
    notes = [line["note"] for line in run.stats().lines if line["kind"] == "note"]
    assert "the rules of openspiel:tic_tac_toe run on the CPU only" in notes
    report = rk.match(run, "random", games=4, simulations=8)
    assert report.total.games == 4
    found = rk.analyse(rk.Board("openspiel:tic_tac_toe", "0 3 1 4"), run.net(), simulations=8)
    assert found.move == "x(0,2)"


def test_a_gpu_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    from rookery.training import check_hardware, factory, recipe_for

    monkeypatch.setattr(factory, "find_devices", lambda names: (torch.device("cuda", 0),))
    with pytest.raises(rk.ConfigError, match="its rules run on the CPU only; use --devices cpu"):
        check_hardware(recipe_for("openspiel:tic_tac_toe"))


def test_without_openspiel_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    with pytest.raises(rk.ConfigError, match=r"pip install 'rookery\[openspiel\]'"):
        rk.load_game("openspiel:hex(board_size=3)")


def test_the_example_of_the_docs_runs(capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).parents[2] / "docs/openspiel.md").read_text(encoding="ascii")
    (block,) = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    exec(compile(block, "docs/openspiel.md", "exec"), {})
    assert "ox.\n.x.\n..." in capsys.readouterr().out
