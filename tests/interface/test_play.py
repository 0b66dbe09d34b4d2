"""`rookery play` with what a person types."""

import json
import re
from pathlib import Path

import pytest

from command_line import Mistake, Rookery
from rookery.interface.console_game import COMMANDS


def test_a_person_can_win(rookery: Rookery) -> None:
    typed = "\n".join("123456789")  # taken cells are refused, the next one is tried
    outcomes = set()
    for seed in range(8):
        answer = rookery("play", "tictactoe", "--opponent", "random", "--seed", seed, typed=typed)
        assert answer.code == 0 and answer.err == ""
        outcomes.add(answer.out.splitlines()[-1].removeprefix("your move: "))
    assert outcomes <= {"You won.", "You lost.", "A draw."} and "You won." in outcomes


def test_the_default_opponent_of_a_small_game_is_perfect(rookery: Rookery) -> None:
    """After 1 only 5 keeps the draw; then 2 and 9 must be answered with 3 and 6 or 4."""
    answer = rookery("play", "tictactoe", typed="1\n2\n9\nquit\n")
    assert "solver plays 5" in answer.out and "solver plays 3" in answer.out


def test_a_person_loses_to_perfect_play_after_a_blunder(rookery: Rookery) -> None:
    typed = "\n".join(["2", *"123456789", *"123456789"])
    answer = rookery("play", "tictactoe", "--first", "it", typed=typed)
    assert answer.out.splitlines()[-1].endswith(("You lost.", "A draw."))
    assert "solver moves first." in answer.out


def test_bad_moves_are_refused_and_asked_again(rookery: Rookery, finished_run: Path) -> None:
    answer = rookery("play", finished_run, "--simulations", 2, typed="x\n0\n5\n5\n")
    assert answer.code == 0
    assert "got 'x'" in answer.out and "got '0'" in answer.out and "cell 5 is taken" in answer.out
    assert "tiny plays" in answer.out


def test_an_engine_that_cannot_go_on_has_lost(rookery: Rookery) -> None:
    command = ("play", "chess", "--opponent", "uci:false")
    answer = rookery(*command, typed="hint\ne2e4\n")
    assert answer.code == 0 and answer.err == ""
    assert "No hint available: uci:false exited" in answer.out
    assert answer.out.splitlines()[-1] == "uci:false exited with code 1. You won."


def test_undo_takes_back_both_moves(rookery: Rookery) -> None:
    answer = rookery("play", "tictactoe", typed="undo\n1\nundo\n5\nquit\n")
    assert "Nothing to undo." in answer.out
    boards = answer.out.split("\n\n")
    assert boards[1].splitlines()[0] == "1 2 3"
    assert "X 2 3" in answer.out and "4 X 6" in answer.out
    assert answer.out.count("1 2 3\n4 5 6\n7 8 9") == 2


def test_a_hint_is_what_the_opponent_would_play(rookery: Rookery) -> None:
    answer = rookery("play", "tictactoe", "--first", "it", "--seed", 3, typed="hint\nquit\n")
    assert "solver would play " in answer.out


def test_help_board_and_moves(rookery: Rookery) -> None:
    typed = "help\n1\nmoves\nboard\nquit\n"
    answer = rookery("play", "tictactoe", "--opponent", "minimax:9", typed=typed)
    assert all(f"\n{name}" in answer.out.replace("your move: ", "\n") for name in COMMANDS)
    legal = answer.out.split("your move: ")[3].splitlines()[0].split()
    assert len(legal) == 7 and "1" not in legal
    assert answer.out.count("X ") == 3, "after each move, and once more"


@pytest.mark.parametrize("simulations", [0, 4])
def test_a_hint_of_a_network_has_its_value(
    rookery: Rookery, finished_run: Path, simulations: int
) -> None:
    answer = rookery("play", finished_run, "--simulations", simulations, typed="hint\nquit\n")
    found = re.search(r"tiny would play \d; value ([+-]\d\.\d\d) for you", answer.out)
    assert found and -1 <= float(found[1]) <= 1, answer.out


@pytest.mark.parametrize(("first", "result"), [("me", "0-1"), ("it", "1-0")])
def test_a_game_is_saved_and_completed_at_its_end(
    rookery: Rookery, tmp_path: Path, first: str, result: str
) -> None:
    path = tmp_path / "game.jsonl"
    command = ("play", "tictactoe", "--opponent", "random", "--first", first)
    answer = rookery(*command, typed=f"save {path}\nsave\nquit\n")
    assert "Name a file" in answer.out and json.loads(path.read_text())["result"] == "*"
    before = path.read_text()
    answer = rookery(*command, typed=f"save {path}\nsave {tmp_path}/no/x\nresign\n")
    assert "is not overwritten" in answer.out and "cannot be written" in answer.out
    assert "You lost." in answer.out and path.read_text() == before
    path.unlink()
    rookery(*command, typed=f"save {path}\nundo\nresign\n")
    record = json.loads(path.read_text())
    assert record["result"] == result and len(record["moves"]) == (first == "it")


def test_the_end_of_input_ends_the_game_quietly(rookery: Rookery, finished_run: Path) -> None:
    answer = rookery("play", finished_run, typed="")
    assert answer.code == 0 and answer.err == ""


def test_connect_four_is_played_by_columns(rookery: Rookery) -> None:
    answer = rookery("play", "connect4", "--opponent", "minimax:2", typed="4\nquit\n")
    assert ". . . X . . ." in answer.out and "minimax:2 plays " in answer.out


def test_a_run_may_lend_its_game_only(rookery: Rookery, finished_run: Path) -> None:
    answer = rookery("play", finished_run, "--opponent", "random", typed="quit\n")
    assert "tictactoe against random" in answer.out


def test_chess_is_played_by_names_of_moves(rookery: Rookery, chess_run: Path) -> None:
    answer = rookery("play", chess_run, "--simulations", 2, typed="e5\ne4\nundo\ng1f3\nquit\n")
    assert answer.code == 0 and "'e5' is not a legal move here" in answer.out
    assert "4 . . . . P . . ." in answer.out and "3 . . . . . N . ." in answer.out


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (["tictacto"], "unknown run folder or name 'tictacto'; did you mean tictactoe?"),
        (["random"], "random is neither a run nor a game"),
        (["connect4", "--opponent", "slover"], "did you mean solver?"),
    ],
)
def test_nobody_to_play_with_is_a_mistake(
    mistake: Mistake, arguments: list[str], found: str
) -> None:
    assert found in mistake("play", *arguments)


@pytest.mark.parametrize(
    ("value", "shown"), [(-0.004, "+0.00"), (0.004, "+0.00"), (-0.006, "-0.01"), (-1.0, "-1.00")]
)
def test_a_value_of_nearly_zero_has_no_minus(
    rookery: Rookery,
    finished_run: Path,
    monkeypatch: pytest.MonkeyPatch,
    value: float,
    shown: str,
) -> None:
    monkeypatch.setattr("rookery.interface.console_game.value_of", lambda player: value)
    answer = rookery("play", finished_run, "--simulations", 0, typed="hint\nquit\n")
    assert f"; value {shown} for you" in answer.out
