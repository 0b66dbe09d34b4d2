"""What every test needs: Hypothesis without deadlines, since a first call may compile."""

from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest
from xdist.scheduler import LoadScopeScheduling

hypothesis.settings.register_profile("house", deadline=None, derandomize=True)
hypothesis.settings.load_profile("house")

LONGEST = ("tests/interface", "tests/test_readme.py")
"""They begin first, so that no process has to wait long for another at the end."""


@pytest.fixture(scope="session", autouse=True)
def own_state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What Rookery keeps per user lies in a folder of the tests, never in the home folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROOKERY_STATE", str(tmp_path_factory.mktemp("state")))
        yield


def folder_of(nodeid: str) -> str:
    """The folder in `tests` that a test lies in, or its file."""
    return "/".join(nodeid.partition("::")[0].split("/")[:2])


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the folders that take longest first."""
    items.sort(key=lambda item: folder_of(item.nodeid) not in LONGEST)


class ByFolder(LoadScopeScheduling):  # type: ignore[misc]  # xdist is not annotated
    """Side by side, tests of one folder stay in one process: they share runs, and their order."""

    def _split_scope(self, nodeid: str) -> str:
        return folder_of(nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByFolder:
    """Which test goes to which process."""
    return ByFolder(config, log)
