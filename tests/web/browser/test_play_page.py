"""Whole games in the browser, by mouse, touch and keyboard."""

from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from browsing import Visit

MOST_TABS = 40


def cell(page: Page, name: str) -> Locator:
    """The cell whose name begins like this, such as "e4" or "column 4"."""
    return page.locator(f'[role=gridcell][aria-label^="{name}:"]')


def column(page: Page, number: int) -> Locator:
    """The lowest cell of a column of Connect Four."""
    return page.locator("[role=row]").nth(5).locator("[role=gridcell]").nth(number - 1)


def moves(page: Page) -> list[str]:
    """The moves of the list."""
    return page.locator(".moves .move").all_inner_texts()


def wait_for_moves(page: Page, count: int) -> None:
    expect(page.locator(".moves .move")).to_have_count(count)


def wait_for_status(page: Page, text: str) -> None:
    page.locator(".game-card .status", has_text=text).wait_for()


def test_connect4_against_a_person_by_clicks(visit: Visit) -> None:
    page = visit("#/play?game=connect4&player=person")
    for number in (4, 3, 4, 3, 4, 3, 4):
        made = len(moves(page))
        column(page, number).click()
        wait_for_moves(page, made + 1)
    wait_for_status(page, "Red wins.")
    expect(page.locator(".stone.first")).to_have_count(4)


def test_tictactoe_to_the_end_against_a_program(visit: Visit) -> None:
    page = visit("#/play?game=tictactoe&player=random")
    over, made = page.locator(".game-card .status.over"), page.locator(".moves .move")
    for number in range(0, 9, 2):
        wait_for_status(page, "Your move")
        page.locator(".choosable").first.click()
        expect(over.or_(made.nth(number + 1))).not_to_have_count(0)  # it has replied, or lost
        if over.count():
            return
    pytest.fail("the game has not ended after nine moves")


def test_chess_mate_by_clicks_and_a_drag(visit: Visit) -> None:
    page = visit("#/play?game=chess&player=person")
    for number, (start, end) in enumerate((("f2", "f3"), ("e7", "e5"), ("g2", "g4")), 1):
        cell(page, start).click()
        cell(page, end).click()
        wait_for_moves(page, number)
    drag(page, cell(page, "d8"), cell(page, "h4"))
    wait_for_status(page, "Black wins")
    assert moves(page) == ["f3", "e5", "g4", "Qh4#"]


def drag(page: Page, start: Locator, end: Locator) -> None:
    boxes = [place.bounding_box() for place in (start, end)]
    middles = [(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in boxes if box]
    page.mouse.move(*middles[0])
    page.mouse.down()
    page.mouse.move(*middles[1], steps=4)
    page.mouse.up()


def test_connect4_by_keyboard_alone(visit: Visit) -> None:
    page = visit("#/play?game=connect4&player=person")
    cell(page, "column 1, row 1").wait_for()
    for _ in range(MOST_TABS):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.getAttribute('role')") == "grid":
            break
    page.keyboard.press("Enter")  # the cursor starts in the middle, on column 4
    wait_for_moves(page, 1)
    for count in range(2, 8):
        page.keyboard.press("ArrowLeft" if count % 2 == 0 else "ArrowRight")
        page.keyboard.press("Enter")
        wait_for_moves(page, count)
    wait_for_status(page, "Red wins.")
    assert moves(page) == ["4", "3"] * 3 + ["4"]


def test_the_board_is_flipped(visit: Visit) -> None:
    page = visit("#/play?game=chess&player=person")
    tops = []
    for _ in range(2):
        boxes = [cell(page, name).bounding_box() for name in ("a1", "a8")]
        tops.append([box["y"] for box in boxes if box])
        page.get_by_role("button", name="Flip the board").click()
    assert tops[1] == tops[0][::-1] != tops[0]


def test_promotion_by_keyboard_asks_for_the_piece(visit: Visit) -> None:
    page = visit("#/play?game=chess&player=person&start=8/P6k/8/8/8/8/8/K7+w+-+-+0+1")
    cell(page, "a7").click()
    cell(page, "a8").click()
    chooser = page.get_by_role("dialog", name="Choose a move")
    chooser.wait_for()
    page.keyboard.press("Escape")
    chooser.wait_for(state="detached")
    assert moves(page) == []
    cell(page, "a7").click()
    cell(page, "a8").click()
    page.get_by_role("button", name="a8=N").press("Enter")
    wait_for_moves(page, 1)
    assert moves(page) == ["a8=N"]


def test_the_network_replies_and_undo_and_redo_step_by_two(visit: Visit) -> None:
    page = visit("#/play?game=connect4&player=bundled&amount=25")
    column(page, 4).click()
    wait_for_moves(page, 2)
    wait_for_status(page, "Your move")
    page.get_by_role("button", name="Undo").click()
    stones = page.locator("[role=gridcell][aria-label*=stone]")
    expect(stones).to_have_count(0)
    page.get_by_role("button", name="Redo").click()
    expect(stones).to_have_count(2)
    page.get_by_role("button", name="Hint").click()
    wait_for_status(page, "Hint")
    page.locator(".arrow-ring").wait_for(state="attached")
    page.get_by_role("button", name="Resign").click()
    wait_for_status(page, "Red resigned. Yellow wins.")


def test_moves_can_be_typed_and_positions_revisited(visit: Visit) -> None:
    page = visit("#/play?game=chess&player=person")
    for number, text in enumerate(("e4", "e7e5", "nf3"), 1):
        page.get_by_label("Type a move").fill(text)
        page.keyboard.press("Enter")
        wait_for_moves(page, number)
    assert moves(page) == ["e4", "e5", "Nf3"]
    page.get_by_label("Type a move").fill("Ke4")
    page.keyboard.press("Enter")
    page.get_by_text("Ke4 is not a legal move here.").wait_for()
    page.get_by_role("button", name="e4", exact=True).click()
    expect(cell(page, "e5")).to_have_attribute("aria-label", "e5: empty")
    page.reload()
    wait_for_moves(page, 3)


def test_a_pasted_game_is_loaded_and_saved(visit: Visit) -> None:
    page = visit("#/play?game=chess&player=person")
    page.get_by_role("button", name="Paste").click()
    page.get_by_label("Text").fill("nonsense")
    page.get_by_role("button", name="Load").click()
    expect(page.get_by_role("dialog").get_by_role("alert")).not_to_be_empty()
    page.get_by_label("Text").fill("1. e4 e5 2. Nf3 Nc6 *")
    page.get_by_role("button", name="Load").click()
    wait_for_moves(page, 4)
    with page.expect_download() as download:
        page.get_by_role("button", name="Save file").click()
    assert "Nc6" in download.value.path().read_text()


def test_an_own_game_is_playable_without_more_code(visit: Visit) -> None:
    page = visit("#/play?game=hexapawn&player=person")
    cells = page.locator("[role=gridcell]")
    for number, (start, end) in enumerate(((7, 4), (2, 4), (8, 4)), 1):
        cells.nth(start - 1).click()
        cells.nth(end - 1).click()
        wait_for_moves(page, number)
    assert moves(page) == ["74", "24", "84"]


def test_a_lost_connection_is_said_and_made_again(visit: Visit) -> None:
    page = visit("#/runs")
    sockets: list[Any] = []
    page.route_web_socket("**/api/play", lambda socket: follow(socket, sockets))
    page.goto(page.url.replace("#/runs", "#/play?game=tictactoe&player=person"))
    page.locator(".choosable").first.wait_for()
    sockets[0].close()
    page.get_by_text("The server does not answer").wait_for()
    page.locator("#banner").wait_for(state="hidden")
    page.locator(".choosable").first.click()
    wait_for_moves(page, 1)


def follow(socket: Any, sockets: list[Any]) -> None:
    socket.connect_to_server()
    sockets.append(socket)


def test_touch_plays_on_a_phone(visit: Visit) -> None:
    page = visit("#/play?game=chess&player=person", width=360, height=740, has_touch=True)
    cell(page, "e2").tap()
    cell(page, "e4").tap()
    wait_for_moves(page, 1)


@pytest.mark.parametrize("page_name", ["play", "analyse", "runs"])
def test_a_narrow_screen_needs_no_sideways_scroll(visit: Visit, page_name: str) -> None:
    page = visit(f"#/{page_name}", width=360, height=740)
    page.locator("main .card").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") == 360


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "address",
    [
        "#/play?game=chess&player=person&moves=e4+e5",
        "#/play?game=connect4&player=person&moves=4+4",
        "#/analyse?game=chess&moves=e4",
        "#/runs",
    ],
)
def test_axe_finds_no_violation(visit: Visit, address: str, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page = visit(address, color_scheme=scheme)
    page.locator("main .card").first.wait_for()
    found = axe.Axe().run(page).response["violations"]
    assert not [describe(each) for each in found]


def describe(violation: dict[str, Any]) -> str:
    places = [node["html"][:160] for node in violation["nodes"]]
    return f"{violation['id']}: {violation['help']}: {places}"


def test_the_theme_can_be_chosen_and_is_kept(visit: Visit) -> None:
    page = visit("#/play", color_scheme="dark")
    background = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(background)
    page.get_by_role("button", name="Use the light theme").click()
    light = page.evaluate(background)
    page.reload()
    page.get_by_role("button", name="Use the dark theme").wait_for()
    assert page.evaluate(background) == light != dark
