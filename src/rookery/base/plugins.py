"""Parts that users register by name, such as networks, from modules that they choose.

Modules are named by the variable ROOKERY_PLUGINS, separated by commas, or are entry points
`rookery.plugins` of installed packages. Every process imports them when it meets a name that it
does not know. Nothing in a run folder or in a file of weights can name a module.
"""

import importlib
import os
import sys
from collections.abc import Callable, Iterable
from functools import cache
from importlib.metadata import entry_points
from typing import Generic, TypeVar

from rookery.base.errors import ConfigError, UnknownName

VARIABLE = "ROOKERY_PLUGINS"
GROUP = "rookery.plugins"
ADVICE = f"If it is yours, import its module first, or name the module in {VARIABLE}"
Part = TypeVar("Part", bound=Callable[..., object])


class Registry(Generic[Part]):
    """Parts of one kind, by name; `shipped` names are taken."""

    def __init__(self, kind: str, shipped: Iterable[str] = ()) -> None:
        """`kind` is what messages call a part, such as `net.kind`."""
        self._kind, self._shipped = kind, tuple(shipped)
        self._parts: dict[str, Part] = {}

    def register(self, name: str) -> Callable[[Part], Part]:
        """Return a decorator that registers a part.

        The processes that this one starts import its module, too. A part of the same module under
        the same name is replaced, as when a cell of a notebook is run again.
        """

        def add(part: Part) -> Part:
            known = self._parts.get(name)
            if name in self._shipped or (known and known.__module__ != part.__module__):
                raise ConfigError(f"there is already a {self._kind} {name!r}; choose another name")
            self._parts[name] = part
            _remember(part.__module__)
            return part

        return add

    def check(self, name: str) -> None:
        """Raise UnknownName unless the name is shipped or registered."""
        if name in self._names():
            return
        import_plugins()
        if name not in self._names():
            raise UnknownName(self._kind, name, self._names(), advice=ADVICE)

    def find(self, name: str) -> Part:
        """Return a part of the user, or raise UnknownName."""
        self.check(name)
        return self._parts[name]

    def _names(self) -> tuple[str, ...]:
        return (*self._shipped, *self._parts)


@cache
def import_plugins() -> None:
    """Import the modules that the user has chosen, once."""
    for entry in entry_points(group=GROUP):
        _import(entry.module, f"the entry point {entry.name}")
    for name in plugin_modules():
        _import(name, VARIABLE)


def plugin_modules() -> list[str]:
    """Return the modules that the variable names."""
    names = (name.strip() for name in os.environ.get(VARIABLE, "").split(","))
    return [name for name in names if name]


def _import(name: str, source: str) -> None:
    if (here := os.getcwd()) not in sys.path:
        sys.path.append(here)
    try:
        importlib.import_module(name)
    except ConfigError:
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise ConfigError(f"{source} names {name}, which cannot be imported: {reason}") from error


def _remember(module: str) -> None:
    """Let the processes that this one starts import a module; they run the main one anyway."""
    if module not in ("__main__", "__mp_main__") and module not in plugin_modules():
        os.environ[VARIABLE] = ",".join([*plugin_modules(), module])
