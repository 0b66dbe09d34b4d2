"""A package imports from lower layers only, and never from a module inside another package."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import rookery

PACKAGE = Path(rookery.__file__).parent
LAYERS = {
    "base": 1,
    **dict.fromkeys(["gpu", "workers"], 2),
    **dict.fromkeys(["games", "nets"], 3),
    **dict.fromkeys(["search", "replay"], 4),
    **dict.fromkeys(["selfplay", "learning", "arena"], 5),
    "training": 6,
    "api": 7,
    "interface": 8,
}
FORBIDDEN = {("search", "nets"), ("replay", "nets")}
TOP = max(LAYERS.values()) + 1  # files beside the packages, such as __main__.py


def imported(source: str) -> Iterator[str]:
    """The dotted names of everything of Rookery that `source` imports, nested imports too."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "write absolute imports: rookery.PACKAGE"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            names = names if node.module == "rookery" else [node.module or ""]
        else:
            continue
        yield from (name for name in names if name.split(".")[0] == "rookery")


def complaint(package: str, name: str) -> str | None:
    """Why a file of `package` must not import `name`, or None."""
    target = name.split(".")[1] if "." in name else ""
    if target == package or target not in LAYERS:
        return None
    if LAYERS[target] >= LAYERS.get(package, TOP) or (package, target) in FORBIDDEN:
        return f"{package} must not import {name}: it is not in a lower layer, or barred"
    if name.count(".") > 1:
        return f"{package} must import from rookery.{target}, not from {name}, a module inside it"
    return None


def test_every_import_goes_down_to_a_package() -> None:
    for path in sorted(PACKAGE.rglob("*.py")):
        package = path.relative_to(PACKAGE).parts[0]
        for name in imported(path.read_text()):
            assert complaint(package, name) is None, f"{path}: {complaint(package, name)}"


def test_every_folder_with_code_is_a_package() -> None:
    packages = {path.relative_to(PACKAGE).parts[0] for path in PACKAGE.rglob("*/*.py")}
    assert packages <= set(LAYERS), f"packages without a layer: {sorted(packages - set(LAYERS))}"


@pytest.mark.parametrize(
    ("package", "line"),
    [
        ("base", "import rookery.games"),
        ("games", "from rookery.nets import build_net"),
        ("search", "from rookery import nets"),
        ("search", "def f():\n    from rookery.replay import Window"),
        ("arena", "from rookery.games.registry import game"),
        ("training", "import rookery.interface.cli"),
    ],
)
def test_a_upward_or_sideways_import_is_found(package: str, line: str) -> None:
    assert [complaint(package, name) for name in imported(line)] != [None]


@pytest.mark.parametrize(
    ("package", "line"),
    [
        ("arena", "from rookery.games import game"),
        ("games", "from rookery.games.game import Game"),
        ("base", "from rookery import __version__"),
        ("__main__.py", "from rookery.interface import main"),
        ("base", "import numpy"),
    ],
)
def test_a_proper_import_is_allowed(package: str, line: str) -> None:
    assert not any(complaint(package, name) for name in imported(line))
