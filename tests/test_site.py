"""The documentation site: its navigation is complete, its links resolve, and it builds."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

import rookery

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))
PICTURES = [f"pictures/{path.name}" for path in (DOCS / "pictures").iterdir()]
PARTS = ["Start", "Tutorials", "How-to", "Reference", "Explanation", "Results"]


def navigation() -> str:
    """Return the lines of the navigation."""
    text = (ROOT / "mkdocs.yml").read_text("ascii")
    return text.partition("\nnav:\n")[2].partition("\n\n")[0]


def test_the_navigation_has_six_parts() -> None:
    assert re.findall(r"^  - ([^:]+):", navigation(), re.MULTILINE) == PARTS


def test_every_page_is_in_the_navigation_once() -> None:
    assert sorted(re.findall(r": (\S+)$", navigation(), re.MULTILINE)) == PAGES


@pytest.mark.parametrize("page", PAGES)
def test_links_stay_within_the_site(page: str) -> None:
    """tests/test_readme.py checks their headings."""
    for link in re.findall(r"\]\(([^):]+)\)", (DOCS / page).read_text("ascii")):
        name = link.partition("#")[0]
        target = (Path(page).parent / name).as_posix()
        assert not name or target in (*PAGES, *PICTURES), f"{page}: {link}"


def test_the_api_page_has_every_public_name_once() -> None:
    text = (DOCS / "api.md").read_text("ascii")
    named = [path.rpartition(".")[2] for path in re.findall(r"^::: (\S+)$", text, re.MULTILINE)]
    assert len(named) == len(set(named))
    assert set(rookery.__all__) - {"__version__"} <= set(named)


def test_the_examples_page_shows_every_script_once() -> None:
    text = (DOCS / "examples.md").read_text("ascii")
    shown = re.findall(r'^--8<-- "(\S+)"$', text, re.MULTILINE)
    assert sorted(shown) == sorted(path.name for path in (ROOT / "examples").glob("*.py"))
    assert all(path.name in text for path in (ROOT / "examples").glob("*.ipynb"))


LOADED = {"img": "src", "script": "src", "iframe": "src", "source": "src", "object": "data"}
"""Elements that a browser loads, and where their address is."""


class Loads(HTMLParser):
    """Collects what a page loads from other hosts."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep the address of an element that a browser loads; links to click are no loads."""
        values = dict(attrs)
        name = LOADED.get(tag, "href" if tag == "link" else "")
        if values.get("rel") != "canonical" and is_elsewhere(values.get(name) or ""):
            self.found.append(f"<{tag}> {values[name]}")


def is_elsewhere(address: str) -> bool:
    return address.startswith("//") or "://" in address


def loads_of(site: Path) -> list[str]:
    """Return what the pages and style sheets of a built site load from other hosts."""
    found = []
    for path in site.rglob("*.html"):
        parser = Loads()
        parser.feed(path.read_text("utf-8"))
        found += [f"{path.name}: {each}" for each in parser.found]
    for path in site.rglob("*.css"):
        addresses = re.findall(r"(?:@import\s*|url\()\s*[\"']?([^\"')]+)", path.read_text("utf-8"))
        found += [f"{path.name}: {each}" for each in addresses if is_elsewhere(each)]
    return found


def test_loads_from_other_hosts_are_found(tmp_path: Path) -> None:
    """Links that a person clicks are allowed."""
    (tmp_path / "page.html").write_text(
        '<a href="https://a.org"></a><img src="https://b.org/x.png"><link href="//c.org/x.css">'
        '<script src="here.js"></script>'
    )
    (tmp_path / "style.css").write_text(
        "a { src: url(here.svg) } b { src: url('https://d.org/x') }"
    )
    found = loads_of(tmp_path)
    assert len(found) == 3 and all(host in "".join(found) for host in ("b.org", "c.org", "d.org"))


@pytest.mark.slow
def test_the_site_builds_without_warnings(tmp_path: Path) -> None:
    for package in ("mkdocs", "material", "mkdocstrings"):
        pytest.importorskip(package)
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stderr
    assert {f"{Path(page).stem}.html" for page in PAGES} <= {
        path.name for path in tmp_path.iterdir()
    }
    api = (tmp_path / "api.html").read_text("utf-8")
    assert "Make a move, or raise IllegalPosition." in api
    examples = (tmp_path / "examples.html").read_text("utf-8")
    assert "Whoever takes the last one wins." in examples and "8&lt;" not in examples
    assert not loads_of(tmp_path)
    assert {path.name for path in (tmp_path / "pictures").iterdir()} == {
        path.name for path in (DOCS / "pictures").iterdir()
    }
