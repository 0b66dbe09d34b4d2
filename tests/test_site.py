"""The documentation site: its navigation is complete, its links resolve, and it builds."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import rookery

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))
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
        assert not name or (Path(page).parent / name).as_posix() in PAGES, f"{page}: {link}"


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
