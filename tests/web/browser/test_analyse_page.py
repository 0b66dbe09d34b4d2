"""Analysis in the browser: candidates, variations, trees, two networks, reports, set-up."""

from playwright.sync_api import Page, expect

from browsing import Visit


def start(page: Page) -> None:
    """Start the search and wait for its first candidates."""
    page.get_by_role("button", name="Start").click()
    expect(page.locator(".candidates .move").first).to_be_visible()


def test_candidates_variations_priors_and_the_tree(visit: Visit) -> None:
    page = visit("#/analyse?game=connect4&moves=4+4&player=bundled")
    start(page)
    expect(page.locator(".mark .spot.best")).to_have_count(1)
    expect(page.locator(".wdl-text")).to_contain_text("Yellow")

    expect(page.locator(".candidates .step").first).to_be_attached()  # a second move is known
    page.locator(".candidates .candidate-move").first.hover()
    expect(page.locator(".board .number").nth(1)).to_be_attached()  # it plays on the board
    expect(page.locator(".mark")).to_have_count(0)
    page.mouse.move(5, 5)
    expect(page.locator(".board .number")).to_have_count(0)

    page.get_by_role("button", name="Stop").click()
    page.get_by_label("Net", exact=True).check(force=True)
    expect(page.locator(".warm").first).to_be_attached()

    page.locator(".tree-box > summary").click()
    page.locator(".tree > li summary").first.click()
    expect(page.locator(".tree ul summary").first).to_be_visible()


def test_a_candidate_is_played_by_keyboard_and_searched_on(visit: Visit) -> None:
    page = visit("#/analyse?game=connect4&player=untrained&moves=4")
    start(page)
    page.locator(".candidates .move").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".moves .move")).to_have_count(2)
    expect(page.locator(".candidates .move").first).to_be_visible()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".moves .move").first).to_have_attribute("aria-current", "true")


def test_two_networks_side_by_side(visit: Visit) -> None:
    page = visit("#/analyse?game=connect4&player=bundled&moves=4", width=1440)
    page.get_by_label("Compare two networks").check()
    expect(page.locator("game-board")).to_have_count(2)
    start(page)
    for pane in page.locator(".pane").all():
        expect(pane.locator(".mark .spot.best")).to_have_count(1)
    networks = page.locator(".pane select").evaluate_all("all => all.map(one => one.value)")
    assert networks[0] != networks[1]


def test_a_report_marks_the_move_that_gives_the_win_away(visit: Visit) -> None:
    """After 4 4 only 4 wins (Pascal Pons' solver); 3 loses."""
    page = visit("#/analyse?game=connect4&player=bundled&moves=4+4+3")
    page.get_by_role("button", name="Make a report").click()
    worst = page.locator(".worst .move.blunder", has_text="2. 3??")
    expect(worst).to_be_visible()
    expect(page.locator(".moves .move.blunder")).to_have_text("3??")
    page.get_by_role("button", name="First position").click()
    worst.click()
    expect(page.locator(".moves .move").nth(2)).to_have_attribute("aria-current", "true")


def test_a_position_is_set_up_by_hand(visit: Visit) -> None:
    page = visit("#/analyse?game=chess")
    page.get_by_role("button", name="Set up a position").click()
    page.get_by_role("button", name="Clear the board").click()
    for piece, square in (("White king", "a1"), ("White queen", "b2"), ("Black king", "h8")):
        page.get_by_role("button", name=piece).click()
        page.locator(f'[role=gridcell][aria-label^="{square}:"]').click()
    page.get_by_label("Side to move").select_option("b")
    page.get_by_role("button", name="Use this position").click()
    expect(page.locator(".status")).to_have_text("Black to move.")
    expect(page.locator("[role=gridcell]:not([aria-label*=empty])")).to_have_count(3)


def test_a_game_without_networks_says_how_to_get_one(visit: Visit) -> None:
    page = visit("#/analyse?game=hexapawn")
    expect(page.get_by_text("There is no network for Hexapawn yet.")).to_be_visible()
    expect(page.get_by_role("button", name="Start")).to_be_disabled()
