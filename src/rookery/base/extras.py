"""Packages of Rookery's extras, which are imported when they are needed."""

import importlib
from typing import Any

from rookery.base.errors import ConfigError


def import_extra(module: str, *, extra: str, user: str) -> Any:
    """Return a module of an extra; raise ConfigError that names the extra if it is missing.

    `user` is what needs it. The modules are untyped here: not every installation has them.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ConfigError(f"{user} needs {package} (pip install 'rookery[{extra}]')") from error
