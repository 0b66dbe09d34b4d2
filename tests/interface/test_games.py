"""`rookery games` and `rookery recipes`."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import Mistake, Rookery
from rookery.games import tictactoe
from rookery.training import RECIPES, from_json


def own_rules(folder: Path, **changes: str) -> Path:
    """Tic-Tac-Toe as a rules file of one's own."""
    text = Path(tictactoe.__file__).read_text().replace('NAME = "tictactoe"', 'NAME = "mine"')
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    path = folder / "mine.py"
    path.write_text(text)
    return path


def test_the_games_are_listed_with_their_recipes(rookery: Rookery) -> None:
    out = rookery("games").out
    assert "connect4" in out and "2 x 6 x 7" in out and "tictactoe-demo" in out


def test_a_shipped_game_keeps_the_contract(rookery: Rookery) -> None:
    answer = rookery("games", "check", "tictactoe")
    lines = answer.out.splitlines()
    assert answer.code == 0 and len(lines) > 8
    assert all(line.startswith("ok ") for line in lines)


def test_a_rules_file_is_checked(rookery: Rookery, tmp_path: Path) -> None:
    answer = rookery("games", "check", own_rules(tmp_path))
    assert answer.code == 0, answer


def test_broken_rules_are_named_and_exit_with_1(rookery: Rookery, tmp_path: Path) -> None:
    path = own_rules(tmp_path, **{"MAX_PLIES = 9": "MAX_PLIES = 4"})
    answer = rookery("games", "check", path)
    assert answer.code == 1
    assert any(
        line.startswith("FAILED") and "MAX_PLIES" in line for line in answer.out.splitlines()
    )


def test_a_file_that_is_no_rules_module_is_a_mistake(mistake: Mistake, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("NAME = 'mine'\n")
    assert "it lacks STATE" in mistake("games", "check", path)
    path.write_text("def start(state:\n")
    assert "could not be imported: SyntaxError" in mistake("games", "check", path)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('NAME = "mine"', 'NAME = "connect4"', "NAME is connect4, the name of a shipped game"),
        ('NAME = "mine"', "NAME = 5", "NAME is 5: expected a word"),
        ('NAME = "mine"', 'NAME = "../mine"', "NAME is '../mine': expected a word"),
        ("for view in _VIEWS)", "for view in ())", "SYMMETRIES cannot be read"),
        ("import numpy as np\n", "import sys\nsys.exit(0)\n", "could not be imported: SystemExit"),
    ],
)
def test_tables_that_nothing_can_be_made_of(
    mistake: Mistake, tmp_path: Path, old: str, new: str, told: str
) -> None:
    assert told in mistake("games", "check", own_rules(tmp_path, **{old: new}))


@pytest.mark.parametrize(
    ("cells", "word"), [("9 * np.arange(9)", "ok"), ("np.arange(9) + 10**7", "less than 81")]
)
def test_a_policy_is_drawn_within_bounds(
    rookery: Rookery, tmp_path: Path, cells: str, word: str
) -> None:
    path = own_rules(tmp_path, **{"MAX_PLIES = 9": f"MAX_PLIES = 9\nPOLICY_CELLS = {cells}"})
    assert word in rookery("games", "check", path).out.splitlines()[0]


def test_tables_may_be_lists(rookery: Rookery, tmp_path: Path) -> None:
    lists = {"PLANES = (2, 3, 3)": "PLANES = [2, 3, 3]\nPOLICY_CELLS = list(range(9))"}
    assert rookery("games", "check", own_rules(tmp_path, **lists)).code == 0


def test_a_run_whose_rules_were_broken_or_lost_says_so(
    mistake: Mistake, tmp_path: Path, finished_run: Path
) -> None:
    run = shutil.copytree(finished_run, tmp_path / "run")
    config = json.loads((run / "config.json").read_text())
    broken, lost = tmp_path / "broken.py", tmp_path / "lost.py"
    broken.write_text("x = (\n")
    (run / "config.json").write_text(json.dumps({**config, "game": str(broken)}))
    assert "has not trusted" in mistake("eval", run)
    assert "could not be imported: SyntaxError" in mistake("eval", run, "--trust-rules")
    (run / "config.json").write_text(json.dumps({**config, "game": str(lost)}))
    assert f"there is no rules file {lost}" in mistake("eval", run)


def test_an_unknown_game_is_a_mistake(mistake: Mistake) -> None:
    assert "did you mean connect4?" in mistake("games", "check", "conect4")
    assert "there is no rules file" in mistake("games", "check", "missing.py")


def test_the_recipes_are_listed(rookery: Rookery) -> None:
    out = rookery("recipes").out
    assert all(name in out for name in RECIPES)


def test_a_recipe_is_shown_as_its_whole_config(rookery: Rookery) -> None:
    out = rookery("recipes", "connect4-laptop").out
    assert json.loads(out)["run"]["minutes"] == 60
    assert from_json(out) == RECIPES["connect4-laptop"]()


def test_an_unknown_recipe_is_a_mistake(mistake: Mistake) -> None:
    assert "did you mean connect4-laptop?" in mistake("recipes", "conect4-lapto")


def test_a_rules_file_is_compiled_once_and_then_found_in_the_cache(
    environment: dict[str, str], tmp_path: Path
) -> None:
    path = own_rules(tmp_path)
    cache = {**environment, "XDG_CACHE_HOME": str(tmp_path)}
    command = [sys.executable, "-m", "rookery", "match", "random", "minimax:1", "--games", "2"]
    for _ in range(2):
        done = subprocess.run(
            [*command, "--game", str(path)], capture_output=True, text=True, timeout=240, env=cache
        )
        assert done.returncode == 0, done.stderr


USES = (
    "import sys; sys.path.append('rules'); import mine; rules = mine",
    "import rules.mine; rules = rules.mine",
    "from rookery.games import load_game; rules = load_game('rules/mine.py').rules",
)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0)])
def test_a_rules_file_is_also_a_module(
    environment: dict[str, str], tmp_path: Path, order: tuple[int, ...]
) -> None:
    (tmp_path / "rules").mkdir()
    text = own_rules(tmp_path / "rules").read_text()
    helper = "@compiled\ndef start(state):\n    clear(state)\n\n\n@compiled\ndef clear(state):"
    (tmp_path / "rules" / "mine.py").write_text(
        text.replace("@compiled\ndef start(state):", helper)
    )
    cache = {**environment, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    for number in order:
        state = "numpy.zeros(1, [('mover', 'u2'), ('opponent', 'u2')]).view(numpy.recarray)[0]"
        done = subprocess.run(
            [sys.executable, "-c", f"import numpy; {USES[number]}; rules.start({state})"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            env=cache,
        )
        assert done.returncode == 0, done.stderr


def test_a_new_game_passes_its_check_and_its_tests(
    rookery: Rookery,
    mistake: Mistake,
    environment: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = rookery("games", "new", "corners")
    assert answer.code == 0 and "rookery games check corners.py" in answer.out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["corners.py", "test_corners.py"]
    assert "mygame" not in "".join(path.read_text() for path in tmp_path.iterdir())
    checked = rookery("games", "check", "corners.py")
    assert checked.code == 0
    assert all(line.startswith("ok ") for line in checked.out.splitlines()), checked.out
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_corners.py"],
        capture_output=True,
        text=True,
        timeout=240,
        env={**environment, "PYTEST_ADDOPTS": ""},
    )
    assert done.returncode == 0 and "8 passed" in done.stdout, done.stdout
    (tmp_path / "corners.py").write_text("my work")
    assert "corners.py exists already and is not overwritten" in mistake("games", "new", "corners")
    (tmp_path / "corners.py").unlink()
    assert "test_corners.py exists already" in mistake("games", "new", "corners")
    assert not (tmp_path / "corners.py").exists()


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("chess", "ships with Rookery"),
        ("../mine", "is no name for a game"),
        ("my-game", "is no name for a game"),
        ("class", "is no name for a game"),
        ("", "is no name for a game"),
        ("random", "random is a module that Python can import"),
    ],
)
def test_a_new_game_needs_a_name_of_its_own(
    mistake: Mistake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert told in mistake("games", "new", name)
    assert not list(tmp_path.iterdir())
