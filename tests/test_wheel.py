"""The wheel has every file of the package, and works without the source tree."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HEAD = ("pyproject.toml", "README.md", "LICENSE", "NOTICE")


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The content of the wheel, built from a copy."""
    folder = tmp_path_factory.mktemp("wheel")
    shutil.copytree(ROOT / "src", folder / "copy" / "src", ignore=_ignored)
    for name in HEAD:
        shutil.copy(ROOT / name, folder / "copy")
    options = ["--no-deps", "--no-build-isolation", "--quiet", "--wheel-dir", str(folder)]
    command = [sys.executable, "-m", "pip", "wheel", *options, str(folder / "copy")]
    subprocess.run(command, check=True, capture_output=True, cwd=folder)
    (wheel,) = folder.glob("rookery-*-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "content")
    return folder / "content"


def _ignored(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if name == "__pycache__" or name.endswith(".egg-info")]


def test_it_has_every_file_of_the_package(unpacked: Path) -> None:
    expected, found = (
        {
            path.relative_to(top).as_posix()
            for path in (top / "rookery").rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }
        for top in (ROOT / "src", unpacked)
    )
    assert found == expected


def test_it_works_in_an_empty_folder(unpacked: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(unpacked)}

    def output(*words: str) -> str:
        command = [sys.executable, *words]
        return subprocess.run(
            command, check=True, capture_output=True, text=True, cwd=tmp_path, env=environment
        ).stdout

    assert output("-c", "import rookery; print(rookery.__file__)").startswith(str(unpacked))
    assert "rookery" in output("-m", "rookery", "--version")
    script = "import rookery as rk; print(rk.load_net('connect4'), rk.Board('connect4'))"
    assert "connect4" in output("-c", script)
