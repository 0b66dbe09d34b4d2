"""The pictures of the documentation: made by the script, used, small, and without the network."""

import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))

from diagrams import DIAGRAMS  # noqa: E402
from make_pictures import FILES, MAKERS, RUNS, on_card, terminal_svg  # noqa: E402

PICTURES = sorted((ROOT / "docs/pictures").glob("*.svg"))
SCREENSHOTS = sorted((ROOT / "docs/pictures").glob("*.webp"))
MAX_BYTES = 150_000


def test_the_script_makes_every_picture() -> None:
    assert [path.name for path in PICTURES] == sorted(f"{name}.svg" for name in MAKERS)


def test_every_picture_is_on_a_page() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    text = "".join(page.read_text("ascii") for page in pages)
    shown = set(re.findall(r"!\[[^\]]{10,}\]\((?:docs/)?pictures/([\w-]+\.\w+)\)", text))
    assert shown == {path.name for path in (*PICTURES, *SCREENSHOTS)}
    assert set((ROOT / "docs/pictures").iterdir()) == {*PICTURES, *SCREENSHOTS}


def test_screenshots_are_small() -> None:
    assert all(path.stat().st_size < MAX_BYTES for path in SCREENSHOTS)


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.stem)
def test_a_picture_is_small_and_loads_nothing(path: Path) -> None:
    text = path.read_text("utf-8")
    assert len(text.encode()) < MAX_BYTES
    assert "@import" not in text and "@font-face" not in text and "<script" not in text
    assert not re.search(r"(?:href|src)\s*=\s*[\"'](?!#)|url\(\s*[\"']?(?!#)", text)
    root = ElementTree.fromstring(text)
    width, height = map(float, root.attrib["viewBox"].split()[2:])
    assert width > 100 and height > 100


def test_the_animation_stops_for_those_who_prefer_less_motion() -> None:
    text = (ROOT / "docs/pictures/session.svg").read_text("utf-8")
    start = text.index("@media (prefers-reduced-motion: reduce)")
    still = text[start : text.index("</style>")]
    assert "animation: none" in still and ".last { visibility: visible; }" in still
    last = re.findall(r'<use href="#r\d+" y="[\d.]+" class="s k\d+ last"/>', text)
    assert len(last) > 10, "the last screen is shown"
    assert "<animate" not in text and "<set" not in text, "motion that a style cannot stop"


@pytest.mark.parametrize("name", sorted(DIAGRAMS))
def test_a_diagram_is_what_the_script_draws(name: str) -> None:
    message = f"run `python tools/make_pictures.py {name}`"
    drawn = DIAGRAMS[name]().svg()
    assert drawn == (ROOT / f"docs/pictures/{name}.svg").read_text("utf-8"), message


def test_boards_stand_side_by_side_on_a_light_card() -> None:
    board = '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"></svg>'
    root = ElementTree.fromstring(on_card([board, board], ["one", "a < b"]))
    card, first, _, second, caption = root
    assert card.attrib["fill"] == "#ffffff" and caption.text == "a < b"
    assert int(second.attrib["x"]) >= int(first.attrib["x"]) + 40


def test_a_terminal_has_no_font_of_another_host() -> None:
    svg = terminal_svg("name", "$ command", "X 2 3 & <more>")
    assert "http" not in svg.replace("http://www.w3.org/2000/svg", "")
    assert "command" in "".join(ElementTree.fromstring(svg).itertext())


def test_the_tutorials_have_the_files_of_the_runs() -> None:
    for name, page in FILES.items():
        assert f'title="{name}"' in (ROOT / "docs" / page).read_text("ascii")
    assert all(words for words in RUNS.values())
