"""The pages of runs in a real browser: live, finished, damaged, compared, started and stopped."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from browsing import Visit, seconds_to_charts, serving, visiting
from long_runs import lengthen
from stats_lines import crew_line, note_line, write_stats
from tiny_runs import TINY, tiny_run

STOP_SECONDS = 120
LONG = 10_000
LONG_SECONDS = 60.0
"""For the page of a long run, on a busy machine; benchmarks/serve.py measures on a quiet one."""
EDGE = """canvas => {
  const { width, height } = canvas;
  const edge = canvas.getContext("2d").getImageData(width - 2, 0, 2, height).data;
  return edge.some((value) => value !== 0);
}"""
"""Whether anything is drawn on the right edge of a chart."""
NARROW = 360
LONG_NAME = "connect4_with_a_wider_network_and_twice_as_many_simulations"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a finished run, one with many measurements, and a damaged one."""
    top = tmp_path_factory.mktemp("runs")
    tiny_run(top / "tiny")
    write_stats(Path(shutil.copytree(top / "tiny", top / "measured")), 40)
    config = (top / "measured" / "config.json").read_text()
    changed = re.sub(r'"simulations": "?4"?', '"simulations": "8"', config)
    assert changed != config
    (top / "measured" / "config.json").write_text(changed)
    lengthen(Path(shutil.copytree(top / "tiny", top / "long")), LONG)
    lengthen(Path(shutil.copytree(top / "tiny", top / "shorter")), 2500)
    shutil.copytree(top / "tiny", top / LONG_NAME)
    crew = Path(shutil.copytree(top / "tiny", top / "crew"))
    with open(crew / "stats.jsonl", "a") as file:
        for line in (crew_line(3), note_line(3, "actor 1 failed; a new one plays"), crew_line(4)):
            file.write(json.dumps(line) + "\n")
    damaged = Path(shutil.copytree(top / "tiny", top / "damaged"))
    (damaged / "run.json").write_text("{")
    with open(damaged / "stats.jsonl", "a") as file:
        file.write('{"kind": "itera\n')
    return top


@pytest.fixture(scope="module")
def pages(browser: Browser, folder: Path) -> Iterator[str]:
    """The address of a server of that folder."""
    with serving(folder.parent, [folder.name]) as address:
        yield address


@pytest.fixture
def visit_run(browser: Browser, pages: str) -> Iterator[Visit]:
    """Open pages of it."""
    with visiting(browser, pages) as opened:
        yield opened


def state(page: Page, word: str) -> None:
    """Wait until the run is in a state."""
    expect(page.locator(".run-headline .badge")).to_have_text(word)


def check(page: Page) -> None:
    """Raise AssertionError if axe-core finds a violation, or the page scrolls sideways."""
    found = pytest.importorskip("axe_playwright_python.sync_playwright").Axe().run(page)
    assert not found.violations_count, found.generate_report()
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= (page.viewport_size or {"width": 0})["width"]


def iteration(page: Page) -> int:
    """The number of the iteration on the page, 0 before the first one."""
    found = re.search(r"iteration ([\d,]+)", page.locator(".run-time").inner_text())
    return int(found[1].replace(",", "")) if found else 0


def test_a_live_run_shows_new_values_without_reload(visit_run: Visit, folder: Path) -> None:
    options = [f"--set={name}={value}" for name, value in TINY.items()]
    command = [sys.executable, "-m", "rookery", "train", "tictactoe", "--iterations", "1000000"]
    source = str(Path(__file__).parents[3] / "src")
    with subprocess.Popen(
        [*command, "--run", str(folder / "live"), "--devices=cpu", *options],
        env={**os.environ, "PYTHONPATH": source, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.DEVNULL,
    ) as process:
        try:
            page = visit_run("#/runs")
            page.get_by_role("link", name="live", exact=True).click()
            state(page, "running")
            page.evaluate("window.isSamePage = true")
            expect(page.locator(".tile", has_text="Loss")).to_be_visible()
            expect(page.get_by_role("figure", name="Losses").locator("canvas")).to_be_visible()
            before = iteration(page)
            page.wait_for_function(
                "before => Number(/iteration ([0-9,]+)/.exec("
                "document.querySelector('.run-time').textContent)[1].replace(',', '')) > before",
                arg=before,
            )
            assert page.evaluate("window.isSamePage")
            page.get_by_role("button", name="Stop").click()
            state(page, "stopped")
            assert process.wait(STOP_SECONDS) == 0
            assert (folder / "live" / "checkpoint.safetensors").exists()
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)


def test_a_run_is_started_stopped_and_resumed_from_the_page(visit_run: Visit, folder: Path) -> None:
    page = visit_run("#/runs")
    page.get_by_role("button", name="New run").click()
    page.get_by_label("Game").select_option("tictactoe")
    page.get_by_label("Minutes").fill("600")
    page.get_by_label("Settings").fill("net.wide=3")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("alert")).to_contain_text("net.wide")
    settings = {**TINY, "run.devices": "cpu"}
    page.get_by_label("Settings").fill("\n".join(f"{n}={v}" for n, v in settings.items()))
    page.get_by_role("button", name="Start").click()
    page.wait_for_url("**/#/runs/tictactoe-1")
    state(page, "running")
    expect(page.locator(".tile", has_text="Loss")).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    state(page, "stopped")
    lines = (folder / "tictactoe-1" / "stats.jsonl").read_text().count('"kind": "iteration"')
    page.get_by_role("button", name="Resume").click()
    page.get_by_label("Minutes in total").fill("0.0001")
    page.locator("dialog").get_by_role("button", name="Resume").click()
    expect(page.get_by_role("alert")).to_contain_text("has taken")
    page.get_by_label("Minutes in total").fill("600")
    page.locator("dialog").get_by_role("button", name="Resume").click()
    state(page, "running")
    expect(page.locator(".event-list")).to_contain_text("resumed on cpu")
    page.get_by_role("button", name="Stop").click()
    state(page, "stopped")
    assert (folder / "tictactoe-1" / "stats.jsonl").read_text().count('"iteration"') >= lines


@pytest.mark.parametrize("width", [NARROW, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_finished_run_is_readable_everywhere(visit_run: Visit, scheme: str, width: int) -> None:
    page = visit_run("#/runs/measured", width=width, color_scheme=scheme)
    expect(page.locator(".tile", has_text="Strength")).to_contain_text("moves that lose game value")
    elo = page.get_by_role("figure", name="Elo")
    elo.scroll_into_view_if_needed()  # charts are drawn when they come near
    expect(elo.locator("canvas")).to_be_visible()
    expect(page.locator(".run-settings")).to_contain_text("net.width")
    check(page)
    page.get_by_role("radio", name="Minutes").check()
    page.get_by_label("Logarithmic").check()
    page.get_by_label("Smoothing").fill("0.5")
    losses = page.get_by_role("figure", name="Losses")
    losses.scroll_into_view_if_needed()
    losses.locator(".u-over").hover()
    expect(losses.locator(".chart-legend")).to_contain_text("minute")


def test_a_run_of_many_iterations_opens_soon(browser: Browser, pages: str) -> None:
    page = browser.new_context().new_page()
    assert seconds_to_charts(page, f"{pages}#/runs/long") < LONG_SECONDS
    assert iteration(page) == LONG
    assert page.locator(".chart canvas").count() < page.locator(".chart").count()
    last = page.get_by_role("figure", name="Positions per second")
    last.scroll_into_view_if_needed()
    expect(last.locator("canvas")).to_be_visible()
    page.context.close()


@pytest.mark.parametrize("name", ["long", "shorter"])
@pytest.mark.parametrize("width", [NARROW, 1600])
def test_no_label_of_a_chart_is_cut_off(visit_run: Visit, name: str, width: int) -> None:
    page = visit_run(f"#/runs/{name}", width=width)
    figure = page.get_by_role("figure", name="Losses")
    figure.scroll_into_view_if_needed()  # charts are drawn when they come near
    canvas = figure.locator("canvas")
    assert not canvas.evaluate(EDGE)
    page.get_by_role("radio", name="Minutes").check()
    assert not canvas.evaluate(EDGE)


def test_a_damaged_run_says_what_is_wrong(visit_run: Visit) -> None:
    page = visit_run("#/runs")
    expect(page.locator("tr", has_text="damaged").first).to_contain_text("run.json is damaged")
    check(page)
    page.get_by_role("link", name="damaged", exact=True).click()
    state(page, "damaged")
    expect(page.locator(".notice")).to_have_count(2)
    expect(page.locator(".tile", has_text="Loss")).to_be_visible()
    expect(page.get_by_role("button", name="Resume")).to_have_count(0)
    check(page)


def test_every_worker_is_shown_with_its_events_and_every_gpu(visit_run: Visit) -> None:
    page = visit_run("#/runs/crew")
    table = page.get_by_role("region", name="Workers")
    expect(table.get_by_role("row", name="actor 0")).to_contain_text("100 positions/s")
    expect(table.get_by_role("row", name="actor 1").first).to_contain_text("restarted")
    expect(table.locator(".worker-events")).to_contain_text("actor 1 failed; a new one plays")
    expect(page.locator(".event-list")).to_contain_text("actor 1 failed; a new one plays")
    expect(page.locator(".tile", has_text="GPU load")).to_contain_text("25 %")
    load = page.get_by_role("figure", name="GPU load").locator(".chart-legend")
    expect(load).to_contain_text("cuda:0")
    expect(load).to_contain_text("75 %")
    check(page)


def test_the_doctor_says_what_is_wrong_and_what_to_change(visit_run: Visit) -> None:
    page = visit_run("#/runs/measured")
    page.get_by_role("button", name="Examine").click()
    finding = page.locator(".finding", has_text="few-simulations")
    expect(finding).to_contain_text("simulations per move: 4")
    expect(finding.locator(".advice code")).to_have_text("--set selfplay.simulations=32")
    check(page)


def test_games_are_replayed_with_the_opinion_of_the_search(visit_run: Visit) -> None:
    page = visit_run("#/runs/tiny")
    page.get_by_role("button", name="Show games").click()
    expect(page.locator("game-board [role=gridcell]")).to_have_count(9)
    page.get_by_role("button", name="Last position").click()
    expect(page.locator(".opinion")).to_contain_text("The game is over")
    page.get_by_role("button", name="Move back").click()
    expect(page.locator(".opinion")).to_contain_text("of the points for the first player")
    check(page)
    page.get_by_role("link", name="Analyse this position").click()
    page.wait_for_url(re.compile(r"#/analyse\?game=tictactoe&.*player=run%3Atiny"))


def test_two_runs_are_compared(visit_run: Visit) -> None:
    page = visit_run("#/runs")
    for name in ("tiny", "measured"):
        page.get_by_label(f"Compare {name}", exact=True).check()
    page.get_by_role("button", name="Compare 2 runs").click()
    page.get_by_role("heading", name="2 runs compared").wait_for()
    legend = page.get_by_role("figure", name="Losses: total").locator(".chart-legend")
    expect(legend).to_contain_text("tiny")
    expect(legend).to_contain_text("measured")
    row = page.locator("tr", has_text="selfplay.simulations")
    expect(row.locator("td")).to_have_text(["4", "8"])
    with page.expect_download() as download:
        page.get_by_role("figure", name="Losses: total").get_by_role("button", name="CSV").click()
    lines = download.value.path().read_text().splitlines()
    assert lines[0] == "series,iteration,value,low,high" and len(lines) == 1 + 1 + 40
    with page.expect_download() as download:
        page.get_by_role("button", name="Save Losses: total as a picture").click()
    assert download.value.path().read_bytes().startswith(b"\x89PNG")
    check(page)


@pytest.mark.parametrize("width", [NARROW, 760])
def test_a_comparison_fits_a_narrow_screen(visit_run: Visit, width: int) -> None:
    page = visit_run(f"#/runs?compare=measured,{LONG_NAME},crew", width=width)
    page.get_by_role("heading", name="3 runs compared").wait_for()
    for group in page.locator("details.chart-group:not([open]) > summary").all()[::-1]:
        group.click()
    figure = page.get_by_role("figure", name="Losses: total")
    expect(figure.locator(".chart-legend")).to_contain_text(LONG_NAME)
    expect(figure.locator("canvas")).to_be_visible()
    check(page)


@pytest.mark.parametrize("address", ["#/runs", f"#/runs/{LONG_NAME}"])
def test_a_long_name_fits_a_narrow_screen(visit_run: Visit, address: str) -> None:
    page = visit_run(address, width=NARROW)
    expect(page.get_by_text(LONG_NAME)).to_be_visible()
    check(page)
