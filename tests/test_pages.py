"""The form of the documentation pages."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
WIDTH = 100


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_text_is_at_most_100_columns_wide(page: Path) -> None:
    """Tables and commands cannot be wrapped."""
    is_code, wide = False, []
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        is_code ^= line.lstrip().startswith("```")
        if len(line) > WIDTH and not is_code and not line.startswith("|"):
            wide.append(number)
    assert not wide
