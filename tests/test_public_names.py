"""A package's `__all__` is what is really there (ruff's RUF022 keeps it sorted)."""

import importlib
from pathlib import Path
from types import ModuleType

import pytest

import rookery

PACKAGES = sorted(path.parent.name for path in Path(rookery.__file__).parent.glob("*/__init__.py"))


def public_names(package: ModuleType) -> list[str]:
    """Return what the package holds, without private names, files and unnamed modules."""
    return sorted(
        name
        for name, value in vars(package).items()
        if name in package.__all__ or not (name.startswith("_") or isinstance(value, ModuleType))
    )


@pytest.mark.parametrize("name", PACKAGES)
def test_all_names_what_the_package_holds(name: str) -> None:
    package = importlib.import_module(f"rookery.{name}")
    assert sorted(package.__all__) == public_names(package)


@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_says_what_it_is(name: str) -> None:
    assert importlib.import_module(f"rookery.{name}").__doc__


def test_a_forgotten_name_is_noticed() -> None:
    package = ModuleType("package")
    vars(package).update(tree=1, _private=2, os=importlib.import_module("os"), __all__=[])
    assert public_names(package) == ["tree"]
