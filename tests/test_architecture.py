"""The package tree in docs/architecture.md is that of src/rookery, in the order of the layers."""

import re
from pathlib import Path

from test_layers import LAYERS

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src/rookery"
ENTRY = re.compile(r"^(?P<indent> +)(?P<name>\w+)/ +(?P<purpose>\S.*)$")


def drawn() -> list[str]:
    """Return the packages of the diagram, sub-packages as `package/name`, in their order."""
    page = (ROOT / "docs/architecture.md").read_text(encoding="ascii")
    (block,) = re.findall(r"^```\w*\nrookery/\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    paths: list[str] = []
    for line in block.splitlines():
        entry = ENTRY.match(line)
        assert entry, f"{line!r} is not `  name/   purpose`"
        is_package = len(entry["indent"]) == 2
        parent = "" if is_package else paths[-1].split("/")[0] + "/"
        paths.append(parent + entry["name"])
    return paths


def test_the_diagram_has_every_package_and_no_other() -> None:
    folders = {path.parent.relative_to(PACKAGE) for path in PACKAGE.glob("*/**/__init__.py")}
    assert sorted(drawn()) == sorted(folder.as_posix() for folder in folders)


def test_packages_are_in_the_order_of_the_layers() -> None:
    packages = [path for path in drawn() if "/" not in path]
    assert packages == sorted(packages, key=LAYERS.__getitem__)


def test_the_layers_table_is_the_one_that_imports_are_checked_against() -> None:
    page = (ROOT / "docs/architecture.md").read_text(encoding="ascii")
    rows = re.findall(r"^\| (\d+) \| (.+?) \|", page, re.MULTILINE)
    table = {name: int(layer) for layer, cell in rows for name in re.findall(r"`(\w+)`", cell)}
    table.pop("rookery", None)  # the public API itself, which is no folder
    assert table == LAYERS
