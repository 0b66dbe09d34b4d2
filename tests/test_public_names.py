"""A room's `__all__` is what is really there (ruff's RUF022 keeps it sorted)."""

import importlib
from pathlib import Path
from types import ModuleType

import pytest

import rookery

ROOMS = sorted(path.parent.name for path in Path(rookery.__file__).parent.glob("*/__init__.py"))


def public_names(room: ModuleType) -> list[str]:
    """What the room holds, without private names, its files and modules that it does not name."""
    return sorted(
        name
        for name, value in vars(room).items()
        if name in room.__all__ or not (name.startswith("_") or isinstance(value, ModuleType))
    )


@pytest.mark.parametrize("name", ROOMS)
def test_all_names_what_the_room_holds(name: str) -> None:
    room = importlib.import_module(f"rookery.{name}")
    assert sorted(room.__all__) == public_names(room)


@pytest.mark.parametrize("name", ROOMS)
def test_a_room_says_what_it_is(name: str) -> None:
    assert importlib.import_module(f"rookery.{name}").__doc__


def test_a_forgotten_name_is_noticed() -> None:
    room = ModuleType("room")
    vars(room).update(tree=1, _private=2, os=importlib.import_module("os"), __all__=[])
    assert public_names(room) == ["tree"]
