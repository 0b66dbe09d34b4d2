"""How many cases a fuzz test runs, the limits of each case, and generators of hostile input.

`ROOKERY_FUZZ` is the number of cases of a whole campaign (`make fuzz`); without it, a small sample
runs with the other tests, the same one every time.
"""

import json
import os
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from rookery.base import RookeryError
from rookery.interface.cli.failures import explain

CAMPAIGN = int(os.environ.get("ROOKERY_FUZZ", "0"))
SAMPLE = 1000
CASE_SECONDS = 60
CASE_BYTES = 4 * 2**30
"""Address space that a case may need in addition."""

NUMBERS = (
    *("-1", "0", "1", "2", "1e400", "-1e400", "nan", "inf", "-0", "0x10", "1e-400", "0.5", "3.7"),
    *("9" * 20, "-" + "9" * 20, "9" * 5000, "1" + "0" * 400, "\u0661", "\u00bd", " 3 ", "1,2", ""),
)
WORDS = (
    *(
        "",
        " ",
        "-",
        "--",
        "\x00",
        "\n",
        "\r\n",
        "\x1b[31m",
        "\x1b]0;t\x07",
        "\ud800",
        "\u202e",
        "~",
    ),
    *("..", "../..", "/", "/dev/null", "/dev/zero", "/proc/self/mem", "x" * 5000, "a@b", "@", ":"),
    *("=", "a=b", "[" * 3000, "{}", "null", "%s", "$(id)", "`id`", "\\", "*", "random:1", "+"),
)
numbers = st.sampled_from(NUMBERS) | st.integers().map(str) | st.floats().map(str)
words = st.sampled_from(WORDS) | st.text(max_size=12)
hostile = numbers | words


def cases(share: float) -> Callable[[Any], Any]:
    """Run this share of all cases."""
    return settings(
        max_examples=max(1, int(share * (CAMPAIGN or SAMPLE))),
        deadline=None,
        derandomize=not CAMPAIGN,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


@contextmanager
def limits() -> Iterator[None]:
    """End a case that takes too long or too much memory, as a failure."""

    def late(number: int, frame: FrameType | None) -> None:
        raise AssertionError(f"a case took longer than {CASE_SECONDS} s")

    before, soft = signal.signal(signal.SIGALRM, late), resource.getrlimit(resource.RLIMIT_AS)
    with open("/proc/self/statm") as file:
        size = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + CASE_BYTES, soft[1]))
    signal.alarm(CASE_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
        resource.setrlimit(resource.RLIMIT_AS, soft)


@contextmanager
def only_clear_errors() -> Iterator[None]:
    """Accept an error of Rookery's own, in one line; anything else is a defect."""
    try:
        with limits():
            yield
    except RookeryError as error:
        text = explain(error) or ""
        assert text and "\n" not in text and len(text) < 2000, text[:3000]


def mutated(content: bytes) -> st.SearchStrategy[bytes]:
    """Flip bits, cut, repeat or insert; mostly little, so that the damage lies deep."""
    places = st.integers(0, max(0, len(content) - 1))
    flip = st.tuples(places, st.integers(0, 7)).map(lambda at: _flip(content, *at))
    cut = places.map(lambda end: content[:end])
    insert = st.tuples(places, st.binary(min_size=1, max_size=9)).map(
        lambda at: content[: at[0]] + at[1] + content[at[0] :]
    )
    double = st.tuples(places, places).map(
        lambda at: content[: max(at)] + content[min(at) :]  # a part twice
    )
    return st.one_of(flip, flip, cut, insert, double, st.binary(max_size=64))


def _flip(content: bytes, place: int, bit: int) -> bytes:
    changed = bytearray(content)
    if changed:
        changed[place] ^= 1 << bit
    return bytes(changed)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats()
    | st.sampled_from((10**7, 10**9, 20_000, -1, 0, 2**63, "x" * 3000, "../x", "\x1b[2J")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=4,
)


def changed_json(value: Any) -> st.SearchStrategy[Any]:
    """Replace or remove one value somewhere in a JSON value."""
    paths = list(_paths(value))
    return st.tuples(st.sampled_from(paths), JSON, st.booleans()).map(
        lambda at: _change(json.loads(json.dumps(value)), *at)
    )


def _paths(value: Any) -> Iterator[tuple[Any, ...]]:
    yield ()
    parts: Any = enumerate(value) if isinstance(value, list) else getattr(value, "items", tuple)()
    for key, part in parts:
        yield from ((key, *rest) for rest in _paths(part))


def _change(value: Any, path: tuple[Any, ...], new: Any, is_removed: bool) -> Any:
    if not path:
        return new
    parent = value
    for key in path[:-1]:
        parent = parent[key]
    if is_removed:
        del parent[path[-1]]
    else:
        parent[path[-1]] = new
    return value
