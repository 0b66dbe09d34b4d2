"""What every test needs: Hypothesis without deadlines, since a first call may compile."""

from pathlib import Path

import hypothesis
import pytest

hypothesis.settings.register_profile("house", deadline=None, derandomize=True)
hypothesis.settings.load_profile("house")

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Side by side, tests of one folder stay in one process: they share runs, ports and hosts."""
    for item in items:
        group = item.path.relative_to(HERE).parts[0]
        item.add_marker(pytest.mark.xdist_group(group))
