"""Rules that omit what has a default: tables, and the notation of moves and positions."""

from pathlib import Path

import numpy as np
import pytest

from rookery.base import ConfigError, IllegalPosition, interpreted
from rookery.games import Game, check_game, load_game

NIM = Path(__file__).parents[2] / "benchmarks" / "ten_tasks" / "rookery" / "nim.py"
"""Rules that omit everything they can."""


@pytest.fixture
def nim() -> Game:
    return load_game(str(NIM))


def changed(folder: Path, *changes: tuple[str, str], more: str = "") -> Game:
    """Return Nim with some text replaced, uncompiled, which takes no time."""
    text = NIM.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = folder / "nim.py"
    path.write_text(text + more)
    with interpreted():
        return load_game(str(path))


def test_tables_have_their_obvious_values(nim: Game) -> None:
    assert (nim.version, nim.max_legal) == (1, 3)
    assert nim.cell_symmetries.tolist() == [list(range(7))]
    assert nim.action_symmetries.tolist() == [[0, 1, 2]]


def test_what_is_defined_is_not_replaced(tmp_path: Path) -> None:
    more = "VERSION = 4\nMAX_LEGAL = 2\n\n\ndef show(state):\n    return '|' * state.matches\n"
    game = changed(tmp_path, more=more)
    assert (game.version, game.max_legal) == (4, 2)
    assert game.show(game.new_states(1)[0]) == "|||||||"


def test_a_move_is_its_number_and_a_position_its_moves(nim: Game) -> None:
    state = nim.position("20")
    assert state.matches == 3 and nim.show(state) == "matches 3"
    assert [nim.write_move(state, action) for action in nim.legal_actions(state)] == ["0", "1", "2"]
    assert nim.read_move(state, "2") == 2


@pytest.mark.parametrize(
    ("position", "move", "found"),
    [
        ("", "3", "'3' is not a legal move; expected one of 0, 1, 2"),
        ("", "", "'' is not a legal move"),
        ("22", "1", "expected one of 0$"),
        ("220", "0", "expected one of none, the game is over"),
    ],
)
def test_other_moves_are_refused(nim: Game, position: str, move: str, found: str) -> None:
    with pytest.raises(IllegalPosition, match=found):
        nim.read_move(nim.position(position), move)


def test_numbers_of_many_actions_have_as_many_digits(tmp_path: Path) -> None:
    many = [("NUM_ACTIONS = 3", "NUM_ACTIONS = 200"), ("matches = 7", "matches = 120")]
    game = changed(tmp_path, *many, ("min(3, s", "min(200, s"), ("(1, 1, 7)", "(1, 1, 120)"))
    state = game.position("009050")
    assert state.matches == 59 and game.write_move(state, 7) == "007"
    with pytest.raises(IllegalPosition, match="'05' is not a legal move"):
        game.position("00905")


def test_moves_are_read_as_the_rules_write_them(tmp_path: Path) -> None:
    more = "\n\ndef write_move(state, action):\n    return 'abc'[action]\n"
    game = changed(tmp_path, more=more)
    assert game.position("cb").matches == 2
    with pytest.raises(IllegalPosition, match="expected one of a, b, c"):
        game.read_move(game.new_states(1)[0], "0")


def test_short_rules_pass_every_check(tmp_path: Path) -> None:
    game = changed(tmp_path)
    with interpreted():
        results = check_game(game, games=20)
    failed = {result.name: result.message for result in results if not result.passed}
    assert set(failed) <= {"compiled"}, failed  # they are not, here
    assert [result.name for result in results if result.is_warning] == ["perspective"]


@pytest.mark.parametrize("planes", ["7", "None", "(1,)"])
def test_wrong_planes_are_reported(planes: str, tmp_path: Path) -> None:
    try:
        game = changed(tmp_path, ("(1, 1, 7)", planes))
    except ConfigError as error:
        assert "nim.py could not be imported" in str(error)
    else:
        assert np.prod(game.planes_shape) == 1
