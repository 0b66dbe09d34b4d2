"""Every dialog: axe-core finds nothing, and the keyboard alone is enough."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from browsing import Visit

PROMOTION = "#/play?game=chess&player=person&start=8/P6k/8/8/8/8/8/K7+w+-+-+0+1"
TABS = 14
INSIDE = """([dialog, isModal]) => {
  const focused = document.activeElement;
  return dialog.contains(focused) || (isModal && focused === document.body);
}"""
"""A modal dialog of the browser also lets the focus go to the browser itself, never to the page."""


def open_paste(page: Page) -> Locator:
    page.get_by_role("button", name="Paste").press("Enter")
    return page.get_by_role("dialog", name="Paste a position or a game")


def open_new_run(page: Page) -> Locator:
    page.get_by_role("button", name="New run").press("Enter")
    return page.get_by_role("dialog", name="New run")


def open_resume(page: Page) -> Locator:
    page.get_by_role("button", name="Resume").press("Enter")
    return page.get_by_role("dialog", name="Resume untrained")


def open_promotion(page: Page) -> Locator:
    board = page.get_by_role("grid")
    board.wait_for()
    cell(page, "a7").click()
    for _ in range(2):  # the cursor stands on a7
        board.press("ArrowUp")
    board.press("Enter")
    return page.get_by_role("dialog", name="Choose a move")


def open_setup(page: Page) -> Locator:
    page.get_by_role("button", name="Set up a position").press("Enter")
    return page.get_by_role("region", name="Set up a position")


def cell(page: Page, name: str) -> Locator:
    return page.locator(f'[role=gridcell][aria-label^="{name}:"]')


Open = Callable[[Page], Locator]
DIALOGS: list[Any] = [
    pytest.param("#/play?game=chess&player=person", open_paste, "Paste", id="paste"),
    pytest.param("#/runs", open_new_run, "New run", id="new run"),
    pytest.param("#/runs/untrained", open_resume, "Resume", id="resume"),
    pytest.param(PROMOTION, open_promotion, "", id="promotion"),
]
SETUP = pytest.param("#/analyse?game=chess", open_setup, "Set up a position", id="set-up")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("address", "opened", "opener"), [*DIALOGS, SETUP])
def test_axe_finds_no_violation_in_a_dialog(
    visit: Visit, address: str, opened: Open, opener: str, scheme: str
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page = visit(address, color_scheme=scheme)
    expect(opened(page)).to_be_visible()
    found = axe.Axe().run(page)
    assert not found.violations_count, found.generate_report()


@pytest.mark.parametrize(("address", "opened", "opener"), DIALOGS)
def test_the_focus_stays_in_a_dialog_and_comes_back(
    visit: Visit, address: str, opened: Open, opener: str
) -> None:
    page = visit(address)
    dialog = opened(page)
    expect(dialog).to_be_visible()
    for key in ("Tab", "Shift+Tab"):
        for _ in range(TABS):
            page.keyboard.press(key)
            assert page.evaluate(INSIDE, [dialog.element_handle(), bool(opener)])
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    back = page.get_by_role("button", name=opener) if opener else page.get_by_role("grid")
    expect(back.first).to_be_focused()


def test_a_position_is_set_up_by_keyboard_alone(visit: Visit) -> None:
    page = visit("#/analyse?game=chess")
    setup = open_setup(page)
    expect(setup.get_by_role("button").first).to_be_focused()
    setup.get_by_role("button", name="Clear the board").press("Enter")
    board = page.get_by_role("grid")
    walks = {"White king": [], "Black king": ["ArrowUp"] * 3, "White queen": ["ArrowDown"] * 2}
    for piece, steps in walks.items():
        setup.get_by_role("button", name=piece).press("Enter")
        for step in [*steps, "ArrowRight", "Enter"]:
            board.press(step)
    setup.get_by_role("button", name="Use this position").press("Enter")
    expect(setup).to_have_count(0)
    expect(page.locator("[role=gridcell]:not([aria-label*=empty])")).to_have_count(3)
    expect(page.get_by_role("button", name="Set up a position")).to_be_focused()


def test_a_set_up_is_left_by_escape(visit: Visit) -> None:
    page = visit("#/analyse?game=chess")
    setup = open_setup(page)
    expect(setup).to_be_visible()
    page.keyboard.press("Escape")
    expect(setup).to_have_count(0)
    expect(page.get_by_role("button", name="Set up a position")).to_be_focused()
    expect(page.locator("[role=gridcell]:not([aria-label*=empty])")).to_have_count(32)
