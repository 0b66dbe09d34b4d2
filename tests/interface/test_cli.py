"""The command line itself: help, version, and which errors are told in one line."""

import errno
import shlex
import subprocess
import sys

import pytest

from command_line import Mistake, Rookery
from rookery import __version__
from rookery.base import RookeryError
from rookery.interface.cli import app
from rookery.interface.cli.failures import explain

COMMANDS = ("train", "resume", "watch", "play", "eval", "match", "analyse", "games", "recipes")


def test_help_names_every_command(rookery: Rookery) -> None:
    answer = rookery("--help")
    assert answer.code == 0
    assert all(f" {command} " in answer.out for command in COMMANDS)


def test_no_command_shows_the_help(rookery: Rookery) -> None:
    assert rookery().out == rookery("--help").out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(rookery: Rookery, command: str) -> None:
    answer = rookery(command, "--help")
    assert answer.code == 0 and "Usage: rookery" in answer.out


def test_the_version_is_shown(rookery: Rookery) -> None:
    assert rookery("--version").out == f"rookery {__version__}\n"


def test_help_imports_neither_torch_nor_numba(environment: dict[str, str]) -> None:
    script = (
        "import sys; from rookery.interface.cli.app import run; run(['train', '--help']); "
        "sys.exit(any(name in sys.modules for name in ('torch', 'numba', 'numpy')))"
    )
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, timeout=60, env=environment)
    assert done.returncode == 0, done


def test_python_m_rookery_is_the_same_command(environment: dict[str, str]) -> None:
    command = [sys.executable, "-m", "rookery", "trian"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
    assert done.returncode == 2
    assert done.stderr == (
        "rookery: No such command 'trian'. Did you mean 'train'; see rookery --help\n"
    )


def test_a_reader_that_leaves_early_causes_no_traceback(environment: dict[str, str]) -> None:
    command = f"{shlex.quote(sys.executable)} -m rookery recipes connect4-laptop | true"
    done = subprocess.run(
        command, shell=True, capture_output=True, text=True, timeout=60, env=environment
    )
    assert done.stderr == ""


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full")
@pytest.mark.parametrize(
    ("line", "code", "told"),
    [
        ("--help >/dev/full", 2, "no room left to write"),
        ("recipes connect4-laptop >/dev/full", 2, "no room left to write"),
        ("trian 2>&-", 2, ""),
        ("trian 2>/dev/full", 2, ""),
        ("recipes >&- 2>&-", 0, ""),
    ],
)
def test_output_that_is_full_or_closed_causes_no_traceback(
    environment: dict[str, str], line: str, code: int, told: str
) -> None:
    command = f"{shlex.quote(sys.executable)} -m rookery {line}"
    done = subprocess.run(
        command, shell=True, capture_output=True, text=True, timeout=120, env=environment
    )
    assert done.returncode == code and told in done.stderr
    assert len(done.stderr.splitlines()) == (1 if told else 0)


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (["nonsense"], "No such command"),
        (["train"], "Missing argument"),
        (["train", "tictactoe", "--minutes", "soon"], "--minutes"),
        (["match", "random"], "Missing argument"),
        (["play", "tictactoe", "--first", "you"], "you"),
        (["analyse", "run", "--simulations", "-1"], "simulations"),
    ],
)
def test_wrong_usage_is_told_in_one_line(
    mistake: Mistake, arguments: list[str], found: str
) -> None:
    assert found in mistake(*arguments)


def test_an_unexpected_error_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: object, **options: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(app, "app", broken)
    with pytest.raises(ZeroDivisionError):
        app.run(["games"])


def test_ctrl_c_outside_of_training_is_quiet(
    rookery: Rookery, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(prompt: str) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", interrupted)
    answer = rookery("play", "tictactoe")
    assert answer.code == 130 and answer.err == ""


@pytest.mark.parametrize("moment", ["typer", "rookery.interface.cli.match", "torch"])
def test_ctrl_c_while_a_command_is_loaded_is_quiet(
    environment: dict[str, str], moment: str
) -> None:
    script = f"""
import runpy, sys

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == {moment!r}:
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupt())
sys.argv = ["rookery", "recipes"]
runpy.run_module("rookery", run_name="__main__")
"""
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 130 and done.stderr == ""


def test_errors_of_the_system_are_explained() -> None:
    for number in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT):
        assert "no room left to write run/x" in str(explain(OSError(number, "full", "run/x")))
    denied = explain(PermissionError(errno.EACCES, "Permission denied", "/sealed"))
    assert denied is not None and "cannot use /sealed: Permission denied" in denied
    assert explain(ConnectionError("a bug")) is None
    broken = explain(OSError(errno.EIO, "Input/output error"))
    assert broken is not None and broken.startswith("the system reports: Input/output error;")


def test_a_message_of_many_lines_becomes_one() -> None:
    assert explain(RookeryError("not legal here\n\n. X\nO .\n")) == "not legal here | . X | O ."


@pytest.mark.parametrize(
    ("typed", "found"), [("rookery tr", "train"), ("rookery train --reci", "--recipe")]
)
def test_a_shell_can_complete_commands_and_options(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], typed: str, found: str
) -> None:
    variables = {"_ROOKERY_COMPLETE": "complete_bash", "COMP_WORDS": typed}
    for name, text in {**variables, "COMP_CWORD": str(typed.count(" "))}.items():
        monkeypatch.setenv(name, text)
    with pytest.raises(SystemExit) as ended:
        app.run([])
    assert ended.value.code == 0
    assert capsys.readouterr().out.split() == [found]
