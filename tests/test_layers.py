"""Imports only go down, and only to a room, never to a file behind it (DESIGN.md, floors)."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import rookery

PACKAGE = Path(rookery.__file__).parent
FLOORS = {
    "base": 1,
    **dict.fromkeys(["games", "nets", "runtime"], 2),
    **dict.fromkeys(["search", "replay"], 3),
    **dict.fromkeys(["selfplay", "learning", "arena"], 4),
    "run": 5,
    "interface": 6,
}
FORBIDDEN = {("search", "nets"), ("replay", "nets")}
ROOF = max(FLOORS.values()) + 1  # files beside the rooms, such as __main__.py


def imported(source: str) -> Iterator[str]:
    """The dotted names of everything of Rookery that `source` imports, nested imports too."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "a relative import hides its floor; write rookery.ROOM"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            names = names if node.module == "rookery" else [node.module or ""]
        else:
            continue
        yield from (name for name in names if name.split(".")[0] == "rookery")


def complaint(room: str, name: str) -> str | None:
    """Why a file of `room` must not import `name`, or None."""
    target = name.split(".")[1] if "." in name else ""
    if target == room or target not in FLOORS:
        return None
    if FLOORS[target] >= FLOORS.get(room, ROOF) or (room, target) in FORBIDDEN:
        return f"{room} must not import {name}: it is not on a lower floor, or barred"
    if name.count(".") > 1:
        return f"{room} must import from rookery.{target}, not from {name}, a file behind it"
    return None


def test_every_import_goes_down_to_a_room() -> None:
    for path in sorted(PACKAGE.rglob("*.py")):
        room = path.relative_to(PACKAGE).parts[0]
        for name in imported(path.read_text()):
            assert complaint(room, name) is None, f"{path}: {complaint(room, name)}"


def test_every_folder_with_code_is_a_room() -> None:
    rooms = {path.relative_to(PACKAGE).parts[0] for path in PACKAGE.rglob("*/*.py")}
    assert rooms <= set(FLOORS), f"rooms without a floor: {sorted(rooms - set(FLOORS))}"


@pytest.mark.parametrize(
    ("room", "line"),
    [
        ("base", "import rookery.games"),
        ("games", "from rookery.nets import build_net"),
        ("search", "from rookery import nets"),
        ("search", "def f():\n    from rookery.replay import Window"),
        ("arena", "from rookery.games.registry import game"),
        ("run", "import rookery.interface.cli"),
    ],
)
def test_a_climbing_or_sideways_import_is_found(room: str, line: str) -> None:
    assert [complaint(room, name) for name in imported(line)] != [None]


@pytest.mark.parametrize(
    ("room", "line"),
    [
        ("arena", "from rookery.games import game"),
        ("games", "from rookery.games.game import Game"),
        ("base", "from rookery import __version__"),
        ("__main__.py", "from rookery.interface import main"),
        ("base", "import numpy"),
    ],
)
def test_a_proper_import_is_allowed(room: str, line: str) -> None:
    assert not any(complaint(room, name) for name in imported(line))
