"""Take the pictures of the web app for the docs: docs/pictures/*.webp.

    python tools/make_screenshots.py RUNS [NAME ...]

Starts `rookery serve` on the folder RUNS, which holds a run tictactoe-1 for the picture of a run,
opens its pages in Chromium, and saves each as WebP. Names of pictures after RUNS take only these.
Needs the extras `dev` and `web`.
"""

import io
import re
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, Page

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "pictures"
sys.path.insert(0, str(ROOT / "tests"))

from browsing import chromium, serving  # noqa: E402

LARGEST_BYTES = 150_000
PATIENCE_MS = 600_000
QUALITY = 82
RUY_LOPEZ = "e4+e5+Nf3+Nc6+Bb5"
BLUNDERS = "4+4+3+3+5+2+6"


def search(page: Page) -> None:
    """Search until there are 100 nodes."""
    page.get_by_role("button", name="Start").click()
    page.locator(".candidates .step").first.wait_for(state="attached")
    page.locator(".progress", has_text=re.compile(r"\d\d\d nodes|[kM] nodes")).wait_for()


def search_and_report(page: Page) -> None:
    """Make a report, then search the last position."""
    page.get_by_role("button", name="Make a report").click()
    page.locator(".worst .move").first.wait_for()
    page.get_by_role("button", name="Make a report").wait_for()
    search(page)


def wait_for_board(page: Page) -> None:
    """Wait until a position is shown and nobody thinks."""
    page.locator("[role=gridcell]").first.wait_for()
    page.locator(".game-card .status", has_text="Your move").wait_for()


def wait_for_charts(page: Page) -> None:
    """Wait until the first curve is drawn."""
    page.locator("canvas").first.wait_for()


def wait_for_card(page: Page) -> None:
    """Wait until the page has content."""
    page.locator("main .card").first.wait_for()


@dataclass(frozen=True)
class Picture:
    """One picture: where it is taken and what is done before."""

    name: str
    address: str
    prepare: Callable[[Page], None]
    width: int = 1280
    height: int = 800
    options: dict[str, Any] = field(default_factory=dict)


DARK = {"color_scheme": "dark"}
PHONE: dict[str, Any] = {"device_scale_factor": 2, "has_touch": True}
PICTURES_TAKEN = (
    Picture("play", "#/play?game=connect4&player=bundled&moves=4+4+3+3+5+2", wait_for_board),
    Picture(
        "play-dark",
        f"#/play?game=chess&player=bundled&moves={RUY_LOPEZ}+a6",
        wait_for_board,
        options=DARK,
    ),
    Picture(
        "analyse",
        f"#/analyse?game=connect4&player=bundled&moves={BLUNDERS}&ply=3",
        search_and_report,
        1440,
        860,
    ),
    Picture(
        "analyse-dark",
        f"#/analyse?game=chess&player=bundled&moves={RUY_LOPEZ}",
        search,
        1440,
        860,
        DARK,
    ),
    Picture("runs", "#/runs", wait_for_card),
    Picture("run", "#/runs/tictactoe-1", wait_for_charts, 1280, 1000),
    Picture(
        "phone",
        f"#/play?game=chess&player=bundled&moves={RUY_LOPEZ}+a6",
        wait_for_board,
        390,
        844,
        PHONE,
    ),
)


def take(browser: Browser, site: str, picture: Picture) -> None:
    """Open the page, prepare it, and save it."""
    viewport = {"width": picture.width, "height": picture.height}
    context = browser.new_context(
        viewport=viewport,  # type: ignore[arg-type]  # a dict with these keys
        reduced_motion="reduce",
        **picture.options,
    )
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.goto(site + picture.address)
    picture.prepare(page)
    image = Image.open(io.BytesIO(page.screenshot()))
    path = PICTURES / f"{picture.name}.webp"
    image.save(path, quality=QUALITY, method=6)
    context.close()
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size} bytes")
    if path.stat().st_size > LARGEST_BYTES:
        raise SystemExit(f"{path.name} is larger than {LARGEST_BYTES} bytes")


def main() -> None:
    """Take all pictures, or those named after RUNS."""
    PICTURES.mkdir(exist_ok=True)
    runs = [str(Path(sys.argv[1]).resolve())]
    wanted = sys.argv[2:] or [picture.name for picture in PICTURES_TAKEN]
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(Path(folder), runs) as site,
        chromium() as browser,
    ):
        for picture in PICTURES_TAKEN:
            if picture.name in wanted:
                take(browser, site, picture)


if __name__ == "__main__":
    main()
