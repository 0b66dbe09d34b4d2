"""The contract accepts our games, and finds what is wrong with broken ones."""

import sys
from collections.abc import Iterator
from pathlib import Path

import numba
import pytest

import rookery.games.chess
from rookery.base import IllegalPosition, interpreted
from rookery.games import Finding, check_game, game_names, load_game
from rookery.games.contract.interpreted import load_interpreted

SOURCE = Path(str(load_game("tictactoe").module.__file__)).read_text()
SOURCE = SOURCE.replace('NAME = "tictactoe"', 'NAME = "mine"')
PLANES_LOOP = SOURCE.partition("def planes(state, out):\n")[2].partition("\n\n")[0]
FIXED_VIEW = """\
    stones = 0
    for cell in range(9):
        stones += (state.mover | state.waiter) >> cell & 1
    for cell in range(9):
        out[stones % 2, cell // 3, cell % 3] = state.mover >> cell & 1
        out[1 - stones % 2, cell // 3, cell % 3] = state.waiter >> cell & 1"""
VIEWS = "tuple((view.ravel(), view.ravel()) for view in _VIEWS)"
CELL_IS_FREE = "if not taken >> cell & 1:"
WAITERS_PLANE = "out[1, cell // 3, cell % 3] = state.waiter >> cell & 1"

# What is edited, into what, the promise that breaks, and a word of the complaint.
BROKEN = [
    ("np.uint16)])", "np.uint32)], align=True)", "tables", "padding"),
    ('"waiter", np.uint16', '"waiter", object', "tables", "objects"),
    ("MAX_LEGAL = 9", "MAX_LEGAL = 12", "tables", "MAX_LEGAL"),
    ("taken = state.mover", "taken = state.missing", "playable", "missing"),
    ("    state.waiter = 0\n", "", "start", "every field"),
    (CELL_IS_FREE, "if True:", "text", "is it legal"),
    (CELL_IS_FREE, "if cell < 4 and not taken >> cell & 1:", "legality", "no legal move"),
    ("out[count] = cell", "out[count] = cell + 1", "legality", "NUM_ACTIONS"),
    ("out[count] = cell", "out[count] = cell // 2", "legality", "each action once"),
    ("MAX_LEGAL = 9", "MAX_LEGAL = 4", "legality", "MAX_LEGAL"),
    ("MAX_PLIES = 9", "MAX_PLIES = 8", "ends", "MAX_PLIES"),
    ("return LOSS", "return 7", "ends", "expected WIN"),
    (
        WAITERS_PLANE,
        "if state.waiter >> cell & 1: out[1, cell // 3, cell % 3] = 1",
        "planes",
        "zeros",
    ),
    (WAITERS_PLANE, "out[1, cell // 3, cell % 3] = np.nan", "planes", "no number"),
    (VIEWS, "((_GRID.ravel(), _GRID.ravel() // 2),)", "symmetries", "no permutation"),
    (VIEWS, "((_GRID.T.ravel(), _GRID.T.ravel()),)", "symmetries", "identity"),
    (VIEWS, f"(*{VIEWS}, (_GRID.T.ravel(), _GRID[::-1].ravel()))", "symmetries", "[8]"),
    ("    count = 0\n", "    count = 0\n    state.mover = 1\n", "copies", "only read"),
    ("if len(text) != 1 or", "if False and", "text", "ValueError"),
    ("return str(action + 1)", 'return "5"', "text", "read"),
]
# The same, in rules that remember positions and say where a policy is drawn.
REPEATING = """
REPETITION_WINDOW = 4
POLICY_CELLS = np.arange(9)


@compiled
def key(state):
    return np.uint64(state.mover) | np.uint64(state.waiter) << np.uint64(16)


@compiled
def reversible_plies(state):
    return np.int64(0)


@compiled
def set_repetitions(state, times):
    pass
"""
FORGETFUL = [
    ("REPETITION_WINDOW = 4", "REPETITION_WINDOW = 6", "memory", "power of two"),
    ("return np.int64(0)", "return np.int64(4)", "memory", "REPETITION_WINDOW - 1, 3"),
    ("return np.uint64(state.mover) |", "return np.uint64(0) *", "memory", "hash every field"),
    ("    pass\n", "    state.mover = 0\n", "memory", "set_repetitions(state, 0)"),
    (
        "    pass\n",
        "    state.mover ^= times\n",
        "memory",
        "key changes with set",
    ),
    ("np.arange(9)\n", "np.arange(9) // 2\n", "tables", "one cell"),
    ("np.arange(9)\n", "np.arange(8)\n", "tables", "each of the 9 actions"),
]
BROKEN_ONLY_COMPILED = [
    ("PLANES = (2, 3, 3)", "PLANES = (1, 3, 3)", "planes", "outside"),
    ("@compiled\ndef planes", "def planes", "compiled", "@compiled"),
    (
        WAITERS_PLANE,
        "out[1, cell // 3, cell % 3] = np.uint8(200) + np.uint8(100)",
        "compiled",
        "planes",
    ),
]
DOUBTFUL = [
    (PLANES_LOOP, FIXED_VIEW, "fixed player"),
    ("return LOSS", "return 1", "whoever moves last"),
]


@pytest.fixture(autouse=True)
def private_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Games written by these tests must not fill the user's cache."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def plain_python() -> Iterator[None]:
    """Most faults show without compiling, in a hundredth of the time."""
    with interpreted():
        yield


def check_edited(folder: Path, old: str, new: str) -> dict[str, Finding]:
    """The findings about tictactoe with `old` replaced by `new`."""
    return check_source(folder, SOURCE, old, new)


def check_source(folder: Path, source: str, old: str, new: str) -> dict[str, Finding]:
    assert old in source, f"the rules do not contain {old!r}"
    path = folder / "mygame.py"
    path.write_text(source.replace(old, new, 1))
    return {finding.name: finding for finding in check_game(load_game(str(path)), games=5)}


@pytest.mark.parametrize("name", game_names())
def test_shipped_games_keep_every_promise(name: str) -> None:
    for finding in check_game(load_game(name), games=20):
        assert finding.ok and not finding.doubtful, finding


def test_a_users_own_file_is_checked_too(tmp_path: Path, plain_python: None) -> None:
    findings = check_edited(tmp_path, 'NAME = "mine"', 'NAME = "yours"')
    assert all(finding.ok and not finding.doubtful for finding in findings.values())
    assert len(findings) == 12


@pytest.mark.parametrize(("old", "new", "promise", "word"), BROKEN)
def test_a_broken_game_is_caught(
    tmp_path: Path, plain_python: None, old: str, new: str, promise: str, word: str
) -> None:
    finding = check_edited(tmp_path, old, new)[promise]
    assert not finding.ok and word in finding.detail, finding


def test_rules_that_remember_keep_every_promise(tmp_path: Path, plain_python: None) -> None:
    findings = check_source(
        tmp_path, SOURCE + REPEATING, "REPETITION_WINDOW = 4", "REPETITION_WINDOW = 2"
    )
    assert all(finding.ok and not finding.doubtful for finding in findings.values()), findings


@pytest.mark.parametrize(("old", "new", "promise", "word"), FORGETFUL)
def test_a_forgetful_game_is_caught(
    tmp_path: Path, plain_python: None, old: str, new: str, promise: str, word: str
) -> None:
    finding = check_source(tmp_path, SOURCE + REPEATING, old, new)[promise]
    assert not finding.ok and word in finding.detail, finding


def test_half_a_memory_is_no_rules_module(tmp_path: Path, plain_python: None) -> None:
    with pytest.raises(IllegalPosition, match="it lacks set_repetitions"):
        check_source(tmp_path, SOURCE + REPEATING, "def set_repetitions(", "def forget(")


def test_the_interpreted_twin_is_a_copy_of_every_file() -> None:
    chess, twin = load_game("chess"), load_interpreted(load_game("chess"))
    inner = sys.modules[f"{chess.module.__name__}.moves"]
    assert not hasattr(twin.play, "py_func") and not hasattr(twin.key, "py_func")
    assert twin.play.__globals__["look"] is not inner.look
    assert twin.play is not chess.module.play and inner.play is chess.module.play
    assert rookery.games.chess is chess.module


@pytest.mark.parametrize(("old", "new", "promise", "word"), BROKEN_ONLY_COMPILED)
def test_a_game_that_breaks_when_compiled_is_caught(
    tmp_path: Path, old: str, new: str, promise: str, word: str
) -> None:
    finding = check_edited(tmp_path, old, new)[promise]
    assert not finding.ok and word in finding.detail, finding


@pytest.mark.parametrize(("old", "new", "word"), DOUBTFUL)
def test_a_strange_point_of_view_is_doubted(
    tmp_path: Path, plain_python: None, old: str, new: str, word: str
) -> None:
    finding = check_edited(tmp_path, old, new)["perspective"]
    assert finding.ok and finding.doubtful and word in finding.detail, finding


def test_the_same_seed_finds_the_same() -> None:
    first, second = (check_game(load_game("tictactoe"), games=5, seed=3) for _ in range(2))
    assert first == second
