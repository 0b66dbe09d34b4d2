"""The checks accept the shipped games and report what is wrong with faulty ones."""

import sys
from collections.abc import Iterator
from pathlib import Path

import numba
import pytest

import rookery.games.chess
from rookery.base import IllegalPosition, generator, interpreted
from rookery.games import CheckResult, check_game, game_names, load_game, quick_check
from rookery.games.contract.calls import check_calls
from rookery.games.contract.compilation import load_interpreted
from rookery.games.contract.positions import check_perspective
from rookery.games.contract.random_games import CheckFailed, CheckWarning, RandomGames
from rookery.games.contract.symmetries import check_symmetries
from rookery.games.game import FUNCTIONS

SOURCE = load_game("tictactoe").path.read_text()
SOURCE = SOURCE.replace('NAME = "tictactoe"', 'NAME = "mine"')
PLANES_LOOP = SOURCE.partition("def planes(state, out):\n")[2].partition("\n\n")[0]
FIXED_VIEW = """\
    stones = 0
    for cell in range(9):
        stones += (state.mover | state.opponent) >> cell & 1
    for cell in range(9):
        out[stones % 2, cell // 3, cell % 3] = state.mover >> cell & 1
        out[1 - stones % 2, cell // 3, cell % 3] = state.opponent >> cell & 1"""
VIEWS = "tuple((view.ravel(), view.ravel()) for view in _VIEWS)"
SWAP = "    state.mover = state.opponent\n    state.opponent = moved\n"
CELL_IS_FREE = "if not taken >> cell & 1:"
OPPONENT_PLANE = "out[1, cell // 3, cell % 3] = state.opponent >> cell & 1"

# Old text, new text, the check that fails, and a part of its message.
FAULTS = [
    ("np.uint16)])", "np.uint32)], align=True)", "tables", "padding"),
    ('"opponent", np.uint16', '"opponent", object', "tables", "objects"),
    ("MAX_LEGAL = 9", "MAX_LEGAL = 12", "tables", "MAX_LEGAL"),
    ("taken = state.mover", "taken = state.missing", "playable", "missing"),
    ("    state.opponent = 0\n", "", "start", "every field"),
    (CELL_IS_FREE, "if True:", "notation", "is it legal"),
    (CELL_IS_FREE, "if cell < 4 and not taken >> cell & 1:", "legality", "no legal move"),
    ("out[count] = cell", "out[count] = cell + 1", "legality", "NUM_ACTIONS"),
    ("out[count] = cell", "out[count] = cell // 2", "legality", "each action once"),
    ("MAX_LEGAL = 9", "MAX_LEGAL = 4", "legality", "MAX_LEGAL"),
    ("MAX_PLIES = 9", "MAX_PLIES = 8", "termination", "MAX_PLIES"),
    ("return LOSS", "return 7", "termination", "expected WIN"),
    (
        OPPONENT_PLANE,
        "if state.opponent >> cell & 1: out[1, cell // 3, cell % 3] = 1",
        "planes",
        "zeros",
    ),
    (OPPONENT_PLANE, "out[1, cell // 3, cell % 3] = np.nan", "planes", "NaN"),
    (VIEWS, "((_GRID.ravel(), _GRID.ravel() // 2),)", "symmetries", "not a permutation"),
    (VIEWS, "((_GRID.T.ravel(), _GRID.T.ravel()),)", "symmetries", "identity"),
    (VIEWS, f"(*{VIEWS}, (_GRID.T.ravel(), _GRID[::-1].ravel()))", "symmetries", "[8]"),
    ("    count = 0\n", "    count = 0\n    state.mover = 1\n", "copies", "only read"),
    ("return LOSS", "return -1 if np.random.random() < 0.5 else 2", "copies", "outcome is random"),
    ("if len(text) != 1 or", "if False and", "notation", "ValueError"),
    ("return str(action + 1)", 'return "5"', "notation", "read"),
]
REPETITION_RULES = """
REPETITION_WINDOW = 4
POLICY_CELLS = np.arange(9)


@compiled
def key(state):
    return np.uint64(state.mover) | np.uint64(state.opponent) << np.uint64(16)


@compiled
def reversible_plies(state):
    return np.int64(0)


@compiled
def set_repetitions(state, times):
    pass
"""
REPETITION_FAULTS = [
    ("REPETITION_WINDOW = 4", "REPETITION_WINDOW = 6", "repetitions", "power of two"),
    ("return np.int64(0)", "return np.int64(4)", "repetitions", "REPETITION_WINDOW - 1, 3"),
    ("return np.uint64(state.mover) |", "return np.uint64(0) *", "repetitions", "hash every field"),
    ("    pass\n", "    state.mover = 0\n", "repetitions", "set_repetitions(state, 0)"),
    (
        "    pass\n",
        "    state.mover ^= times\n",
        "repetitions",
        "key changes with set",
    ),
    ("np.arange(9)\n", "np.arange(9) // 2\n", "tables", "same cell"),
    ("np.arange(9)\n", "np.arange(8)\n", "tables", "each of the 9 actions"),
]
OTHELLO = (Path(__file__).parents[1] / "othello6.py").read_text()
OTHELLO_ACTIONS = "np.append(view.ravel(), PASS)"
COMPILED_FAULTS = [
    ("PLANES = (2, 3, 3)", "PLANES = (1, 3, 3)", "planes", "outside"),
    ("@compiled\ndef planes", "def planes", "compiled", "@compiled"),
    ("@compiled\ndef planes", "def planes", "calls", "planes is not compiled: write @compiled"),
    (
        OPPONENT_PLANE,
        "out[1, cell // 3, cell % 3] = np.uint8(200) + np.uint8(100)",
        "compiled",
        "planes",
    ),
]
SUSPICIOUS = [
    (SWAP, "    state.mover = moved\n", "play does not swap the sides"),
    (PLANES_LOOP, FIXED_VIEW, "fixed player"),
    ("return LOSS", "return 1", "made the last move"),
]


@pytest.fixture(autouse=True)
def private_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the games of these tests out of the user's cache."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def plain_python() -> Iterator[None]:
    """Do not compile: most faults show without, in a hundredth of the time."""
    with interpreted():
        yield


def check_edited(folder: Path, old: str, new: str) -> dict[str, CheckResult]:
    """Check Tic-Tac-Toe with `old` replaced by `new`; return the results by name."""
    return check_source(folder, SOURCE, old, new)


def check_source(folder: Path, source: str, old: str, new: str) -> dict[str, CheckResult]:
    assert old in source, f"the rules do not contain {old!r}"
    path = folder / "mygame.py"
    path.write_text(source.replace(old, new, 1))
    return {result.name: result for result in check_game(load_game(str(path)), games=5)}


@pytest.mark.parametrize("name", game_names())
def test_shipped_games_pass_every_check(name: str) -> None:
    for result in check_game(load_game(name), games=20):
        assert result.passed and not result.is_warning, result


def test_a_rules_file_is_checked(tmp_path: Path, plain_python: None) -> None:
    results = check_edited(tmp_path, 'NAME = "mine"', 'NAME = "yours"')
    assert all(result.passed and not result.is_warning for result in results.values())
    assert len(results) == 14


@pytest.mark.parametrize(
    ("separator", "is_warning"), [(None, False), ("' '", False), ("','", True)]
)
def test_moves_of_a_position_stand_together_or_between_spaces(
    tmp_path: Path, plain_python: None, separator: str | None, is_warning: bool
) -> None:
    words = "text" if separator is None else f"text.split({separator})"
    reads = f"""
def read_position(state, text):
    start(state)
    for move in {words}:
        play(state, read_move(state, move))
"""
    result = check_source(tmp_path, SOURCE + reads, reads, reads)["notation"]
    assert result.passed and result.is_warning == is_warning, result


@pytest.mark.parametrize(("old", "new", "check", "words"), FAULTS)
def test_faulty_rules_fail_their_check(
    tmp_path: Path, plain_python: None, old: str, new: str, check: str, words: str
) -> None:
    result = check_edited(tmp_path, old, new)[check]
    assert not result.passed and words in result.message, result


def one_game(folder: Path, source: str) -> RandomGames:
    """Return one random game of the rules in `source`."""
    path = folder / "mygame.py"
    path.write_text(source)
    played = RandomGames(load_game(str(path)), lines=[], rng=generator(1, "contract"))
    played.play(1)
    return played


def test_symmetries_may_change_the_first_position(tmp_path: Path, plain_python: None) -> None:
    assert "4 change the first position: compared" in check_symmetries(one_game(tmp_path, OTHELLO))


WRONG_ACTIONS = "np.append(view.ravel() if view[0, 0] in (0, 35) else _VIEWS[2].ravel(), PASS)"


def test_wrong_symmetries_that_change_the_first_position_fail(
    tmp_path: Path, plain_python: None
) -> None:
    with pytest.raises(CheckFailed, match="table of actions"):
        check_symmetries(one_game(tmp_path, OTHELLO.replace(OTHELLO_ACTIONS, WRONG_ACTIONS)))


def test_symmetries_of_states_with_unknown_fields_only_look_wrong(
    tmp_path: Path, plain_python: None
) -> None:
    source = OTHELLO.replace('("is_second", np.int8)', '("is_second", np.int8), ("last", np.int8)')
    source = source.replace("state.is_second = 0", "state.is_second = state.last = 0")
    source = source.replace(
        "    swap(state)\n    state", "    swap(state)\n    state.last = action\n    state"
    )
    played = one_game(tmp_path, source)
    played.play(3)
    assert "4 change the first position: compared" in check_symmetries(played)
    played = one_game(tmp_path, source.replace(OTHELLO_ACTIONS, WRONG_ACTIONS))
    played.play(3)
    with pytest.raises(CheckWarning, match="the field last of STATE depends on cells"):
        check_symmetries(played)


CORNER = SOURCE.replace("state.mover = 0", "state.mover = 1")
TWO_BITBOARDS = (
    CORNER.replace('("mover", np.uint16)', '("mover", np.uint16, 2)')
    .replace("state.mover", "state.mover[0]")
    .replace("state.mover[0] = 1", "state.mover[:] = 1")
)


@pytest.mark.parametrize("source", [CORNER, TWO_BITBOARDS])
def test_bitboards_are_permuted(tmp_path: Path, plain_python: None, source: str) -> None:
    result = check_source(tmp_path, source, "VERSION = 1", "VERSION = 2")["symmetries"]
    assert result.passed and "6 change the first position" in result.message, result


def test_symmetries_that_cannot_be_tested_are_named(tmp_path: Path, plain_python: None) -> None:
    result = check_source(tmp_path, CORNER, '"mover", np.uint16', '"mover", np.int16')["symmetries"]
    assert result.is_warning and "could not be tested" in result.message, result


def test_planes_without_the_opponent_are_shown_with_both_boards(
    tmp_path: Path, plain_python: None
) -> None:
    source = SOURCE.replace("PLANES = (2, 3, 3)", "PLANES = (1, 3, 3)")
    result = check_source(tmp_path, source, OPPONENT_PLANE, "pass")["information"]
    assert not result.passed and "different legal moves" in result.message
    assert "in the first position" in result.message and "1 2 3\n4 5 6" in result.message


def test_planes_of_a_fixed_player_look_wrong_where_pieces_change_sides(
    tmp_path: Path, plain_python: None
) -> None:
    assert "lost" in check_perspective(one_game(tmp_path, OTHELLO))
    side = "(1 - 2 * state.is_second)"
    absolute = OTHELLO.replace("== 1\n", f"== {side}\n").replace("== -1\n", f"== -{side}\n")
    assert absolute.count(side) == 2
    with pytest.raises(CheckWarning, match="fixed player"):
        check_perspective(one_game(tmp_path, absolute))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("    taken = state.mover", "    taken = state.movr", "the fields of STATE are mover, opp"),
        ("    taken = state.mover", "    out[9] = 0\n    taken = state.mover", "IndexError"),
    ],
)
def test_a_mistake_is_reported_with_file_and_line(
    tmp_path: Path, plain_python: None, old: str, new: str, words: str
) -> None:
    result = check_edited(tmp_path, old, new)["calls"]
    number = SOURCE[: SOURCE.index(old)].count("\n") + 1
    assert not result.passed and words in result.message, result
    assert result.message.startswith(f"mygame.py, line {number}: legal raises"), result


@pytest.mark.parametrize("name", [*FUNCTIONS, "show", "write_move"])
def test_an_endless_loop_is_reported_and_ends_the_check(
    tmp_path: Path, plain_python: None, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr("rookery.games.contract.calls.MAX_LINES", 5_000)
    heads = [line for line in SOURCE.splitlines(keepends=True) if line.startswith(f"def {name}(")]
    results = check_edited(tmp_path, heads[0], f"{heads[0]}    while True:\n        pass\n")
    assert list(results) == ["tables", "calls"]
    assert f"{name} does not return in the first position" in results["calls"].message, results


def test_a_function_that_the_rules_call_must_be_compiled(tmp_path: Path) -> None:
    path = tmp_path / "mygame.py"
    path.write_text(OTHELLO.replace("@compiled\ndef flips", "def flips"))
    with pytest.raises(CheckFailed, match=r"mygame.py, line \d+: flips is not compiled: write"):
        check_calls(load_game(str(path)), 1)


def test_a_field_may_have_the_name_of_a_function_of_text(tmp_path: Path) -> None:
    path = tmp_path / "mygame.py"
    path.write_text(SOURCE.replace("opponent", "turn") + "\n\ndef turn(state):\n    return 0\n")
    assert "moves of uncompiled rules" in check_calls(load_game(str(path)), 1)


def test_a_draw_by_counting_moves_need_not_be_in_the_planes(
    tmp_path: Path, plain_python: None
) -> None:
    source = SOURCE.replace('("opponent", np.uint16)', '("opponent", np.uint16), ("plies", "u1")')
    source = source.replace("    state.opponent = 0\n", "    state.opponent = state.plies = 0\n")
    source = source.replace(
        "    moved = ", "    state.plies += 1 + (action == 0)\n    moved = "
    ).replace("return DRAW if", "return DRAW if state.plies > 3 or")
    result = check_source(tmp_path, source, "VERSION = 1", "VERSION = 2")["information"]
    assert result.passed, result


def test_a_quick_check_reports_failures_without_compiling(tmp_path: Path) -> None:
    path = tmp_path / "mygame.py"
    path.write_text(SOURCE.replace("MAX_PLIES = 9", "MAX_PLIES = 4"))
    failures = quick_check(load_game(str(path)))
    assert [failure.name for failure in failures] == ["termination"]
    path.write_text(OTHELLO)
    assert quick_check(load_game(str(path))) == []
    assert not list((tmp_path / "cache").rglob("*.nbi"))
    assert quick_check(load_game("tictactoe")) == []


def test_a_quick_check_of_slow_rules_ends_soon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rookery.games.contract.check.QUICK_SECONDS", 0.0)
    path = tmp_path / "mygame.py"
    path.write_text(SOURCE.replace("MAX_PLIES = 9", "MAX_PLIES = 4"))
    assert quick_check(load_game(str(path))) == []
    path.write_text(SOURCE.replace("PLANES = (2, 3, 3)", "PLANES = (2, 3)"))
    assert [failure.name for failure in quick_check(load_game(str(path)))] == ["tables"]


def test_rules_with_repetitions_pass_every_check(tmp_path: Path, plain_python: None) -> None:
    results = check_source(
        tmp_path, SOURCE + REPETITION_RULES, "REPETITION_WINDOW = 4", "REPETITION_WINDOW = 2"
    )
    assert all(result.passed and not result.is_warning for result in results.values()), results


@pytest.mark.parametrize(("old", "new", "check", "words"), REPETITION_FAULTS)
def test_faulty_repetitions_fail_their_check(
    tmp_path: Path, plain_python: None, old: str, new: str, check: str, words: str
) -> None:
    result = check_source(tmp_path, SOURCE + REPETITION_RULES, old, new)[check]
    assert not result.passed and words in result.message, result


def test_repetition_functions_must_be_complete(tmp_path: Path, plain_python: None) -> None:
    with pytest.raises(IllegalPosition, match="it lacks set_repetitions"):
        check_source(tmp_path, SOURCE + REPETITION_RULES, "def set_repetitions(", "def other(")


def test_the_uncompiled_copy_has_its_own_files() -> None:
    chess, twin = rookery.games.chess, load_interpreted(load_game("chess"))
    inner = sys.modules[f"{chess.__name__}.moves"]
    assert not hasattr(twin.play, "py_func") and not hasattr(twin.key, "py_func")
    assert twin.play.__globals__["check_info"] is not inner.check_info
    assert twin.play is not inner.play and inner.play is vars(chess)["play"]
    assert rookery.games.chess is chess is sys.modules[chess.__name__]


@pytest.mark.parametrize(("old", "new", "check", "words"), COMPILED_FAULTS)
def test_rules_that_fail_only_when_compiled_are_found(
    tmp_path: Path, old: str, new: str, check: str, words: str
) -> None:
    result = check_edited(tmp_path, old, new)[check]
    assert not result.passed and words in result.message, result


@pytest.mark.parametrize(("old", "new", "words"), SUSPICIOUS)
def test_a_suspicious_perspective_is_a_warning(
    tmp_path: Path, plain_python: None, old: str, new: str, words: str
) -> None:
    result = check_edited(tmp_path, old, new)["perspective"]
    assert result.passed and result.is_warning and words in result.message, result


def test_the_same_seed_gives_the_same_results() -> None:
    first, second = (check_game(load_game("tictactoe"), games=5, seed=3) for _ in range(2))
    assert first == second
