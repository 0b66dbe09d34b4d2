"""Games of installed packages and of imported modules."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import rookery as rk
from own_rules import marked_rules
from rookery.api import is_game, start_from


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, Path]]:
    """An installed package that offers the game `mine`: its rules and their mark."""
    about = tmp_path / "stranger-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(
        "[rookery.games]\nmine = stranger_games.mine\nlost = stranger_games.absent\n"
    )
    folder = tmp_path / "stranger_games"
    folder.mkdir()
    (folder / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    yield marked_rules(folder)
    for name in [name for name in sys.modules if name.startswith("stranger_games")]:
        del sys.modules[name]


def test_a_game_of_an_installed_package_is_found_by_its_name(package: tuple[Path, Path]) -> None:
    path, mark = package
    assert is_game("mine") and not is_game("theirs") and not mark.exists()
    assert rk.Board("mine", "15").game.path == path and mark.exists()
    assert start_from("mine", None, "cpu").game == str(path)


def test_its_rules_are_executed_only_with_the_expected_digest(package: tuple[Path, Path]) -> None:
    with pytest.raises(rk.ConfigError, match="is not the expected one"):
        rk.load_game("mine", "0" * 64)
    assert not package[1].exists()


def test_unknown_and_missing_games_are_named(package: tuple[Path, Path]) -> None:
    with pytest.raises(rk.ConfigError, match="unknown game 'min'; did you mean mine"):
        rk.load_game("min")
    with pytest.raises(rk.ConfigError, match=r"lost has no rules: .* stranger_games\.absent"):
        rk.load_game("lost")


def test_an_imported_module_is_a_game(package: tuple[Path, Path]) -> None:
    module = importlib.import_module("stranger_games.mine")
    assert rk.load_game(module).path == package[0]
