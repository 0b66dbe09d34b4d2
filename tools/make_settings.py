"""Print docs/settings.md: every setting of a run, with default, accepted values and meaning.

    python tools/make_settings.py > docs/settings.md

Meanings are the docstrings under the fields of the config classes. Accepted values are what the
config itself answers to a value that is too small, too large or unknown.
"""

import ast
import inspect
import re
import textwrap
from dataclasses import fields, is_dataclass
from typing import Annotated, Any, Literal, get_args, get_origin

from rookery.base import ConfigError
from rookery.training.config import Config, apply

WIDTH = 100
HEADER = """\
# Settings

Every setting of a run. `python tools/make_settings.py > docs/settings.md` writes this page from the
source code. Each entry gives the dotted name, the default, the accepted values if the code limits
them, and the meaning. [Recipes](guide.md#settings) replace some of the defaults.

Change a setting with `--set NAME=VALUE`, for example `--set search.considered=8`. `train`, `resume`
and `tune` accept `--set` any number of times. A run stores all of its settings in `config.json`.
"""
PROBES = {
    int: (str(-(10**9)), str(10**18)),
    float: ("-1e9", "1e18"),
    str: ("?",),
}
"""Values that a limited setting refuses: too small and too large, or unknown."""
EXPECTATIONS = (
    re.compile(r"expected (?:a number (?=from))?(.+?)(?:: with .*)?$"),
    re.compile(r"input should be (.+), got "),
    re.compile(r"known: (.+?)(?:\. .*)?$"),
)


def settings_page() -> str:
    """Return the text of docs/settings.md."""
    return HEADER + "".join(_section(part.name, part.type) for part in fields(Config))


def field_docs(kind: type) -> dict[str, str]:
    """Return the docstring under each field of a dataclass, by name."""
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(definition, ast.ClassDef)
    docs = {}
    for entry, follower in zip(definition.body, definition.body[1:], strict=False):
        if isinstance(entry, ast.AnnAssign) and isinstance(follower, ast.Expr):
            docs[ast.unparse(entry.target)] = " ".join(ast.literal_eval(follower.value).split())
    return docs


def accepted(path: str, kind: Any) -> str:
    """Return what the config accepts for a setting, in its own words; empty if anything."""
    if kind is bool:
        return "True or False"
    found = []
    for text in PROBES[_plain(kind)]:
        try:
            apply(Config(game="tictactoe", recipe="any"), [f"{path}={text}"])
        except ConfigError as error:
            found.append(_expectation(str(error)))
    return "; ".join(dict.fromkeys(found))


def _plain(kind: Any) -> type:
    """Return the type below `Annotated`; the values of a `Literal` are texts."""
    if get_origin(kind) is Annotated:
        return _plain(get_args(kind)[0])
    return str if get_origin(kind) is Literal else kind


def _expectation(message: str) -> str:
    matches = (pattern.search(message) for pattern in EXPECTATIONS)
    return next((match[1] for match in matches if match), message)


def _section(name: str, kind: object) -> str:
    if not (isinstance(kind, type) and is_dataclass(kind)):
        return ""
    docs = field_docs(kind)
    lines = [f"\n## `{name}`\n\n{inspect.getdoc(kind)}\n\n"]
    for field in fields(kind):
        default = f'"{field.default}"' if field.default == "" else str(field.default)
        limits = accepted(f"{name}.{field.name}", field.type)
        values = f" ({limits})" if limits else ""
        entry = f"- **`{name}.{field.name}`** = `{default}`{values}: {docs[field.name]}"
        lines.append(_wrap(entry))
    return "".join(lines)


def _wrap(entry: str) -> str:
    return (
        textwrap.fill(
            entry, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
        ).rstrip()
        + "\n"
    )


if __name__ == "__main__":
    print(settings_page(), end="")
