"""What every test needs: Hypothesis without deadlines, since a first call may compile."""

from typing import Any

import hypothesis
import pytest
from xdist.scheduler import LoadScopeScheduling

hypothesis.settings.register_profile("house", deadline=None, derandomize=True)
hypothesis.settings.load_profile("house")


class ByFolder(LoadScopeScheduling):
    """Side by side, tests of one folder stay in one process: they share runs, ports and hosts."""

    def _split_scope(self, nodeid: str) -> str:
        return "/".join(nodeid.partition("::")[0].split("/")[:2])


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByFolder:
    """Which test goes to which process."""
    return ByFolder(config, log)
