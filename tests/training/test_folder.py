"""The run folder: created once, opened only if it is complete, trained by one process."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rookery.base import ConfigError, FileDamaged, RookeryError, RunFolderError
from rookery.interface.cli.app import run
from rookery.training import Config, RunFolder, apply, from_json
from rookery.training.store.origin import new_net

HOLD = """
import fcntl, sys
file = open(sys.argv[1], "wb")
fcntl.flock(file, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def folder(tmp_path: Path, tiny_config: Config) -> RunFolder:
    """A new run, not trained yet."""
    return RunFolder.create(tmp_path / "run", tiny_config)


def content(path: Path) -> dict[str, bytes]:
    """Return the content of every file in a folder."""
    files = (file for file in sorted(path.rglob("*")) if file.is_file())
    return {str(file.relative_to(path)): file.read_bytes() for file in files}


def rewrite(path: Path, **changes: object) -> None:
    """Change entries of a JSON file."""
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_a_new_folder_holds_its_config_before_the_first_game(
    tmp_path: Path, tiny_config: Config
) -> None:
    path = tmp_path / "deep" / "run"
    folder = RunFolder.create(path, tiny_config)
    assert folder.config == tiny_config and folder.game.name == "tictactoe"
    assert from_json((path / "config.json").read_text()) == tiny_config
    assert json.loads((path / "run.json").read_text()) == {
        "format": 2,
        "game": "tictactoe",
        "version": 1,
    }
    assert sorted(content(path)) == ["config.json", "run.json"]


def test_an_empty_folder_may_be_used(tmp_path: Path, tiny_config: Config) -> None:
    assert RunFolder.create(tmp_path, tiny_config).config == RunFolder(tmp_path).config


def test_what_exists_is_never_touched(tmp_path: Path, tiny_config: Config) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "diary").write_text("mine")
    (tmp_path / "file").write_text("mine too")
    before = content(tmp_path)
    for name in ("run", "file"):
        with pytest.raises(RunFolderError, match=f"{name} exists already; choose another folder"):
            RunFolder.create(tmp_path / name, tiny_config)
    assert content(tmp_path) == before


def test_the_error_for_an_existing_run_names_the_resume_command(
    tmp_path: Path, tiny_config: Config
) -> None:
    path = RunFolder.create(tmp_path / "my run", tiny_config).path
    with pytest.raises(RunFolderError, match=f"go on with `rookery resume '{path}'` or choose"):
        RunFolder.create(path, tiny_config)


def test_an_unknown_game_leaves_no_folder(tmp_path: Path, tiny_config: Config) -> None:
    with pytest.raises(ConfigError, match="unknown game"):
        RunFolder.create(tmp_path / "run", Config(game="go", recipe="any"))
    assert not list(tmp_path.iterdir())


def test_a_path_without_a_run_cannot_be_opened(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for name in ("nothing", "file"):
        with pytest.raises(RunFolderError, match="is not a run folder; start one with"):
            RunFolder(tmp_path / name)


@pytest.mark.parametrize("lost", ["run.json", "config.json"])
def test_an_incomplete_folder_is_refused(folder: RunFolder, lost: str) -> None:
    (folder.path / lost).unlink()
    with pytest.raises(RunFolderError, match=rf"not a whole run folder \({lost} is missing\)"):
        RunFolder(folder.path)


@pytest.mark.parametrize("text", ["", "{", "[]", "7", "{}", '{"format": 2}', '{"format": "x"}'])
def test_a_damaged_identity_is_refused(folder: RunFolder, text: str) -> None:
    (folder.path / "run.json").write_text(text)
    with pytest.raises(FileDamaged, match=r"run\.json is damaged"):
        RunFolder(folder.path)


@pytest.mark.parametrize("name", ["run.json", "config.json"])
def test_files_that_are_not_text_are_refused(folder: RunFolder, name: str) -> None:
    (folder.path / name).write_bytes(b"\xff\xfe")
    with pytest.raises(FileDamaged, match=f"{name} is damaged"):
        RunFolder(folder.path)


def test_a_newer_format_asks_for_an_upgrade(folder: RunFolder) -> None:
    rewrite(folder.path / "run.json", format=3)
    with pytest.raises(RunFolderError, match=r"newer Rookery \(format 3, this one reads 2\); upg"):
        RunFolder(folder.path)


def test_an_older_format_is_refused_with_one_clear_line(
    folder: RunFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    rewrite(folder.path / "run.json", format=1)
    before = content(folder.path)
    assert run(["resume", str(folder.path)]) == 2
    error = capsys.readouterr().err
    assert f"{folder.path} was written by an older Rookery (format 1, this one reads 2)" in error
    assert "start a new run with --init" in error and error.count("\n") == 1
    assert content(folder.path) == before


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"version": 2}, "a run of tictactoe version 2, but the rules here are tictactoe vers"),
        ({"game": "connect4"}, "a run of connect4 version 1, but the rules here are tictactoe"),
    ],
)
def test_other_rules_are_refused(folder: RunFolder, changes: dict[str, object], found: str) -> None:
    rewrite(folder.path / "run.json", **changes)
    with pytest.raises(RunFolderError, match=found):
        RunFolder(folder.path)


def test_settings_can_change(folder: RunFolder) -> None:
    longer = apply(folder.config, ["run.iterations=99", "selfplay.simulations=9"])
    folder.change(longer)
    assert folder.config == longer and RunFolder(folder.path).config == longer


@pytest.mark.parametrize("setting", ["net.width=16", "selfplay.games=8", "selfplay.max_plies=5"])
def test_what_the_checkpoint_depends_on_cannot_change(folder: RunFolder, setting: str) -> None:
    before = content(folder.path)
    with pytest.raises(RunFolderError, match="cannot change in a run"):
        folder.change(apply(folder.config, [setting]))
    assert content(folder.path) == before


def test_the_lock_of_another_process_holds_until_it_ends(folder: RunFolder) -> None:
    command = [sys.executable, "-c", HOLD, str(folder.path / ".lock")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == b"held\n"
        with pytest.raises(RunFolderError, match="is being trained by another process"):
            folder.lock()
        holder.kill()
        holder.wait()
        folder.lock().close()


def test_a_released_lock_can_be_taken_again(folder: RunFolder) -> None:
    with folder.lock(), pytest.raises(RunFolderError):
        folder.lock()
    folder.lock().close()


def test_drafts_of_a_killed_process_are_deleted(folder: RunFolder) -> None:
    before = content(folder.path)
    (folder.path / ".checkpoint.safetensors.123.draft").write_bytes(b"half")
    (folder.path / "replay" / ".000001.safetensors.123.draft").write_bytes(b"half")
    folder.lock().close()
    assert content(folder.path) == {**before, ".lock": b""}


def test_weights_are_loaded_by_iteration_the_newest_by_default(folder: RunFolder) -> None:
    net = new_net(folder.config, folder.game)
    for iteration, step in ((9, 90), (10, 100), (2, 20)):
        folder.save_weights(net, iteration=iteration, step=step)
    assert folder.load_weights().header.step == 100
    assert folder.load_weights(2).header.step == 20
    state = folder.load_weights(9).build().state_dict()
    assert all(tensor.equal(state[name]) for name, tensor in net.state_dict().items())
    with pytest.raises(RunFolderError, match="no weights of iteration 3; the nearest are 2, 9, 10"):
        folder.load_weights(3)


def test_a_run_without_weights_is_reported(folder: RunFolder) -> None:
    with pytest.raises(RunFolderError, match="has no weights yet"):
        folder.load_weights()


def test_weights_of_another_game_are_refused(
    folder: RunFolder, tmp_path: Path, finished: RunFolder
) -> None:
    other = RunFolder.create(tmp_path / "other", Config(game="connect4", recipe="x"))
    for path in (finished.path / "weights").iterdir():
        shutil.copy(path, other.path / "weights")
    with pytest.raises(RookeryError, match="tictactoe"):
        other.load_weights()
