"""docs/settings.md lists every setting as the code declares it."""

import runpy
import subprocess
import sys
from pathlib import Path

from rookery.training import setting_names

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/settings.md"
TOOL = runpy.run_path(str(ROOT / "tools/make_settings.py"))


def test_the_page_is_what_the_tool_prints() -> None:
    tool = [sys.executable, str(ROOT / "tools/make_settings.py")]  # alone: tests register own parts
    printed = subprocess.run(tool, capture_output=True, check=True).stdout
    message = "run `python tools/make_settings.py > docs/settings.md`"
    assert PAGE.read_bytes() == printed, message


def test_every_setting_has_an_entry() -> None:
    page = TOOL["settings_page"]()
    assert [name for name in setting_names() if f"- **`{name}`** = " not in page] == []


def test_accepted_values_are_those_that_the_config_names() -> None:
    accepted = TOOL["accepted"]
    assert accepted("search.method", str) == "gumbel, puct"
    assert accepted("run.devices", str) == ""
    assert accepted("search.prove", bool) == "True or False"
