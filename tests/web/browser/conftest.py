"""One server and one browser for all tests of the pages Play and Analyse."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from browsing import Visit, chromium, serving, visiting
from random_runs import random_run

OWN_GAME = Path(__file__).parents[3] / "docs" / "own-game.md"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, or a skipped test; its event loop would disturb those of later modules."""
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def site(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server with a run of Connect Four and the Hexapawn of the docs."""
    folder = tmp_path_factory.mktemp("site")
    page = OWN_GAME.read_text(encoding="ascii")
    (folder / "hexapawn.py").write_text(page.split("```python\n")[1].split("```")[0])
    random_run(folder / "runs" / "untrained", "connect4")
    with serving(folder, ["runs", "hexapawn.py"]) as address:
        yield address


@pytest.fixture
def visit(browser: Browser, site: str) -> Iterator[Visit]:
    """Open pages of the server."""
    with visiting(browser, site) as opened:
        yield opened
