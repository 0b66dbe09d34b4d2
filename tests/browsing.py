"""A browser for tests of the web app: `rookery serve` in a process, and pages in Chromium.

A page fails its test if it asks any other host for anything, if a script of it fails, or if the
Content-Security-Policy forbids something that it does.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

CHROMIUMS = ("chromium", "chromium-browser", "google-chrome")
OPTIONS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
)
PATIENCE_MS = 240_000
"""For one condition of a page; the first search of a game may compile."""
START_SECONDS = 180
WATCH_CHARTS = """
(() => {
  const top = (chart) => chart.getBoundingClientRect().top;
  const isSeen = (chart) => chart.checkVisibility() && top(chart) < innerHeight;
  const look = () => {
    const charts = [...document.querySelectorAll(".chart")].filter(isSeen);
    if (charts.length && charts.every((chart) => chart.querySelector("canvas"))) {
      window.drawnAt = performance.now();
    } else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})()
"""
"""Notes the milliseconds from the start of the navigation until all charts in sight are drawn."""
Visit = Callable[..., Page]
"""Opens an address of the app, such as "#/play?game=chess", with the options of `visiting`."""


@contextmanager
def serving(folder: Path, arguments: Sequence[str] = ()) -> Iterator[str]:
    """Run `rookery serve` in a folder; give its address."""
    command = [sys.executable, "-m", "rookery", "serve", *arguments, "--no-browser", "--port", "0"]
    source = str(Path(__file__).parents[1] / "src")
    environment = {**os.environ, "PYTHONPATH": source}
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            found = re.search(r"http://\S+", process.stdout.readline())
            assert found, "the server did not print its address"
            yield found.group()
        finally:
            process.terminate()
            process.wait(START_SECONDS)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start Chromium, or skip the test where it is missing."""
    program = next(filter(None, map(shutil.which, CHROMIUMS)), None)
    if program is None:
        pytest.skip(f"no Chromium is installed (looked for {', '.join(CHROMIUMS)})")
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=program, args=list(OPTIONS))
        yield browser
        browser.close()


@contextmanager
def visiting(browser: Browser, site: str) -> Iterator[Visit]:
    """Give a function that opens pages; in the end, check that they behaved."""
    problems: list[str] = []
    contexts = []

    def visit(address: str = "", *, width: int = 1280, height: int = 900, **options: Any) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": height}, reduced_motion="reduce", **options
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        _watch(page, site, problems)
        page.goto(site + address)
        return page

    yield visit
    for context in contexts:
        context.close()
    assert not problems, problems


def seconds_to_charts(page: Page, address: str) -> float:
    """Open an address in a new page; return the seconds until its charts are drawn."""
    page.add_init_script(WATCH_CHARTS)
    page.goto(address)
    page.wait_for_function("() => window.drawnAt")
    return float(page.evaluate("window.drawnAt")) / 1000


def _watch(page: Page, site: str, problems: list[str]) -> None:
    """Abort requests to other hosts, and note them and errors of scripts."""
    host = site.removeprefix("http://").rstrip("/")

    def check(route: Any) -> None:
        url = route.request.url
        if re.match(rf"(https?|wss?)://{re.escape(host)}/", url) or url.startswith("blob:"):
            route.continue_()
        else:
            problems.append(f"asked {url}")
            route.abort()

    page.route("**/*", check)
    page.on("pageerror", lambda error: problems.append(f"script failed: {error}"))
    page.on("console", lambda message: _note(message, problems))
    page.on("websocket", lambda socket: _note_socket(socket.url, host, problems))


def _note(message: Any, problems: list[str]) -> None:
    if message.type == "error" and "Failed to load resource" not in message.text:
        problems.append(message.text)


def _note_socket(url: str, host: str, problems: list[str]) -> None:
    if not url.startswith(f"ws://{host}/"):
        problems.append(f"asked {url}")
