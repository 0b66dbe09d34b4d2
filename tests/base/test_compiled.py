"""Compiled code is cached on disk, and never used after an edit."""

import json
import os
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core.caching import IndexDataCacheFile
from numba.core.runtime import _nrt_python, rtsys
from numpy.typing import NDArray

import rookery
from rookery.base import compiled, interpreted
from rookery.base.compiled import kernel_source, remembered_digest, source_digest
from rookery.base.kernel_cache import kernel_files
from rookery.games import load_game
from rookery.games.tictactoe import legal

KERNEL_FILES = kernel_files(IndexDataCacheFile)
SOURCE = Path(rookery.__file__).parents[1]
SCRIPT = """
import json, sys
import numpy as np
from rookery.base import compiled
from rookery.games import load_game

def make_count(rules):
    @compiled
    def count(state, out):
        return rules.legal(state, out)
    return count

tictactoe = load_game(sys.argv[1])
count = make_count(tictactoe.rules)
number = count(tictactoe.new_states(1)[0], np.zeros(9, np.int32))
hits, misses = count.stats.cache_hits, count.stats.cache_misses
print(json.dumps([number, sum(hits.values()), sum(misses.values())]))
"""


def run_kernel(folder: Path, rules: Path | str) -> tuple[int, int, int]:
    """Return (number of legal moves, cache hits, cache misses) of a kernel in a new process."""
    script = folder / "kernel.py"
    if not script.exists():
        script.write_text(SCRIPT)
    env = {
        **os.environ,
        "XDG_CACHE_HOME": str(folder / "cache"),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    command = [sys.executable, str(script), str(rules)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    number, hits, misses = json.loads(done.stdout)
    return number, hits, misses


def test_a_second_process_loads_the_kernel_from_the_cache(tmp_path: Path) -> None:
    assert run_kernel(tmp_path, "tictactoe") == (9, 0, 1)
    assert run_kernel(tmp_path, "tictactoe") == (9, 1, 0)


@pytest.mark.parametrize("kind", [IndexDataCacheFile, KERNEL_FILES])
def test_two_processes_that_save_at_the_same_time_do_not_mix_their_code(
    tmp_path: Path, kind: type[IndexDataCacheFile]
) -> None:
    """The second one reads the index before the first has saved it, and writes between its files.

    Numba's own cache fails, or this test would show nothing.
    """
    first, second = (kind(str(tmp_path), "kernel", ("stamp", 1)) for _ in range(2))
    save_code, known = first._save_data, second._load_index()

    def save_late(name: str, code: str) -> None:
        second._load_index = lambda: known
        second.save("chess", "code for chess")
        save_code(name, code)

    first._save_data = save_late
    first.save("connect4", "code for connect4")
    third = kind(str(tmp_path), "kernel", ("stamp", 1))
    assert third.load("connect4") in (None, "code for connect4")
    assert (third.load("chess") == "code for chess") == (kind is KERNEL_FILES)


def test_compiled_functions_use_these_files() -> None:
    assert isinstance(legal._cache._cache_file, KERNEL_FILES)  # type: ignore[attr-defined]


def test_an_edit_of_a_users_rules_recompiles_kernels(tmp_path: Path) -> None:
    rules = tmp_path / "mygame.py"
    text = load_game("tictactoe").path.read_text()
    rules.write_text(text.replace('NAME = "tictactoe"', 'NAME = "mygame"'))
    assert run_kernel(tmp_path, rules) == (9, 0, 1)
    rules.write_text(rules.read_text().replace("for cell in range(9):\n        if", EDIT))
    assert run_kernel(tmp_path, rules) == (4, 0, 1)


EDIT = "for cell in range(4):\n        if"


def test_functions_defined_interpreted_stay_plain_python() -> None:
    with interpreted():

        @compiled
        def plain(number: int) -> int:
            return number + 1

    assert not hasattr(plain, "py_func") and plain(1) == 2


@compiled
def make(count: int) -> NDArray[np.float64]:
    """Return a new array."""
    return np.ones(count)


@compiled
def tail(array: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a part of an array."""
    return array[1:]


@compiled
def add_up(array: NDArray[np.float64], rows: NDArray[np.int64]) -> float:
    """Make arrays in four ways, and read parts of others."""
    made, chosen, sums = make(len(array)), array[rows], array + array
    return float(tail(made)[0] + tail(array)[1] + chosen[0] + sums[0] + tail(tail(chosen))[0])


def test_arrays_that_inner_functions_make_or_return_are_counted() -> None:
    @compiled
    def kernel(array: NDArray[np.float64], rows: NDArray[np.int64]) -> float:
        total = 0.0
        for _ in range(1000):
            total += add_up(array, rows) + tail(array)[0]
        return total

    array, rows = np.ones(50), np.arange(4)
    _nrt_python.memsys_enable_stats()
    references = sys.getrefcount(array)
    assert kernel(array, rows) == 7000
    stats = rtsys.get_allocation_stats()
    assert sys.getrefcount(array) == references
    before = stats.alloc - stats.free
    kernel(array, rows)
    stats = rtsys.get_allocation_stats()
    assert stats.alloc - stats.free == before and stats.alloc >= 3000


def test_interpreted_ends_after_an_error() -> None:
    before = numba.config.DISABLE_JIT
    with pytest.raises(ZeroDivisionError), interpreted():
        _ = 1 / 0
    assert before == numba.config.DISABLE_JIT


def test_the_cache_folder_survives_the_first_compilation() -> None:
    """A changed NUMBA_ variable would make Numba reload its settings and discard ours."""
    script = (
        "import numba, rookery.training; from rookery.games import load_game;"
        "load_game('tictactoe').new_states(1); assert 'rookery' in numba.config.CACHE_DIR"
    )
    source = str(Path(rookery.__file__).parents[1])
    environment = os.environ | {"PYTHONPATH": source}
    subprocess.run([sys.executable, "-W", "ignore", "-c", script], env=environment, check=True)


MODULE = '''"""Rules."""
from rookery.base import compiled
SIZE = 3

def helper(x):
    return x

class Config:
    games: int = 1
    def check(self): return self.games

def bind(rules):
    """Bind."""
    @compiled
    def step(x):
        """Step."""
        return x + SIZE  # three
    return step
'''


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# three", "# four"),
        ('"""Step."""', '"""One step."""'),
        ("return x\n", "return 2 * x\n"),
        ("games: int = 1", "games: int = 2"),
    ],
)
def test_edits_outside_of_kernels_keep_the_cache(old: str, new: str) -> None:
    assert old in MODULE and kernel_source(MODULE.replace(old, new)) == kernel_source(MODULE)


@pytest.mark.parametrize(
    ("old", "new"),
    [("x + SIZE", "x - SIZE"), ("SIZE = 3", "SIZE = 4"), ("return step", "return bind")],
)
def test_edits_of_kernels_and_their_constants_change_the_cache(old: str, new: str) -> None:
    assert old in MODULE and kernel_source(MODULE.replace(old, new)) != kernel_source(MODULE)


KERNEL = """from rookery.constants import SIZE, Settings
@compiled
def step(x):
    return x + SIZE
"""
CONSTANTS = """WIN, SIZE = 1, 3
OTHER: int = 5
class Settings(NamedTuple):
    width: int
    depth: int
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    (tmp_path / "kernels.py").write_text(KERNEL)
    (tmp_path / "constants.py").write_text(CONSTANTS)
    (tmp_path / "unrelated.py").write_text("LIMIT = 7\n")
    return tmp_path


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("WIN, SIZE = 1, 3", "WIN, SIZE = 1, 4"),
        ("width: int\n    depth: int", "depth: int\n    width: int"),
    ],
)
def test_edits_of_constants_in_other_files_change_the_cache(
    package: Path, old: str, new: str
) -> None:
    before = source_digest(package)
    assert old in CONSTANTS
    (package / "constants.py").write_text(CONSTANTS.replace(old, new))
    assert source_digest(package) != before


def test_edits_of_constants_that_no_kernel_uses_keep_the_cache(package: Path) -> None:
    before = source_digest(package)
    (package / "unrelated.py").write_text("LIMIT = 8\n")
    assert source_digest(package) == before


def test_the_digest_is_computed_again_only_after_an_edit(tmp_path: Path) -> None:
    package, folder = tmp_path / "package", tmp_path / "digests"
    package.mkdir()
    source = package / "kernels.py"
    source.write_text("@compiled\ndef one():\n    return 1\n")
    first = remembered_digest(package, folder)
    (remembered,) = folder.iterdir()
    remembered.write_text("0" * 16)
    assert remembered_digest(package, folder) == "0" * 16
    remembered.write_text("not a digest")
    assert remembered_digest(package, folder) == first
    source.write_text("@compiled\ndef one():\n    return 11\n")
    assert remembered_digest(package, folder) == source_digest(package) != first


SAME_NAMES = """
import sys
from rookery.base import compiled, namespace


def bind(one):
    @compiled
    def total(n):
        if n < 2:
            return n
        return total(n - 1) + one.amount(n)  # recursive, so that it stays a function of its own

    inner = namespace(f"{one.__name__}.inner", [total])

    @compiled
    def outer(n):
        return inner.total(n)

    return outer


def steps(name):
    @compiled
    def one(n):
        return 1

    @compiled
    def many(n):
        return 100 * n

    return namespace(name, {"amount": {"one": one, "many": many}[name]})


print(*(bind(steps(name))(10) for name in sys.argv[1:]))
"""


def test_code_that_two_processes_compiled_can_be_loaded_together(tmp_path: Path) -> None:
    """Functions of the same name, with other closures, must not be taken for each other."""
    script = tmp_path / "same_names.py"
    script.write_text(SAME_NAMES)
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "PYTHONPATH": str(SOURCE)}

    def results(*names: str) -> list[int]:
        command = [sys.executable, str(script), *names]
        ran = subprocess.run(command, env=environment, capture_output=True, check=True, text=True)
        return [int(word) for word in ran.stdout.split()]

    assert results("one") == [10]
    assert results("many") == [5401]
    assert results("one", "many") == [10, 5401]
    assert results("many", "one") == [5401, 10]


def test_processes_number_their_functions_differently() -> None:
    code = (
        "import os, rookery.base\n"
        "from numba.core.bytecode import FunctionIdentity as Identity\n"
        "child = os.fork()\n"
        "child and os.wait()\n"
        "print(next(Identity._unique_ids), flush=True)\n"
    )
    command, environment = [sys.executable, "-c", code], {**os.environ, "PYTHONPATH": str(SOURCE)}
    outputs = [subprocess.check_output(command, env=environment, text=True) for _ in range(2)]
    numbers = [int(line) for output in outputs for line in output.split()]
    assert len(numbers) == 4
    assert min(abs(a - b) for a, b in combinations(numbers, 2)) > 1_000_000


@pytest.mark.parametrize(("tested", "is_apart"), [("", True), ("none", False)])
def test_functions_that_only_kernels_call_are_prepared_for_python_when_it_calls_them(
    tested: str, is_apart: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With other versions of Numba than those tested, they are prepared at once."""
    monkeypatch.setattr(sys.modules[compiled.__module__], "TESTED_NUMBA", tested)

    @compiled
    def double(n: int) -> int:
        return 2 * n

    @compiled
    def quadruple(n: int) -> int:
        return double(double(n))

    assert quadruple(3) == 12
    assert bool(double.overloads) != is_apart  # type: ignore[attr-defined]
    assert double(3) == 6
    assert double.overloads  # type: ignore[attr-defined]
