"""What every test needs: one core per process, and Hypothesis without deadlines.

Two processes that compute with two threads each on two cores take several times as long as with
one: threads that wait for others spin. A first call may compile, so that deadlines make no sense.
"""

import os
from collections.abc import Iterator

import hypothesis
import pytest

hypothesis.settings.register_profile("house", deadline=None, derandomize=True)
hypothesis.settings.load_profile("house")

if worker := os.environ.get("PYTEST_XDIST_WORKER"):  # before any library counts the cores
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[int(worker.removeprefix("gw")) % len(cores)]})

LONGEST = ("tests/test_readme.py", "tests/test_simulator.py", "tests/cluster", "tests/interface")
"""They begin first, so that no process has to wait long for another at the end."""


@pytest.fixture(scope="session", autouse=True)
def own_state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What Rookery keeps per user lies in a folder of the tests, never in the home folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROOKERY_STATE", str(tmp_path_factory.mktemp("state")))
        yield


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests that take longest first; side by side, the tests of a file stay together."""
    items.sort(key=lambda item: not item.nodeid.startswith(LONGEST))
