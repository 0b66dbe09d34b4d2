"""Starts, stops and resumes runs: the commands that a user would type, as processes of their own.

A process gets a session of its own, so that it survives the server. It writes into an unnamed
file, from which the last line is shown if it fails. A run is stopped by the signal of Ctrl-C,
whoever started it.
"""

import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import psutil

from rookery.api import free_folder, length_settings, start_from
from rookery.base import ConfigError, RunFolderError
from rookery.games import load_game
from rookery.interface.web.live_run import DAMAGED, STARTING, LiveRun
from rookery.interface.web.run_shelf import RunShelf, is_run
from rookery.training import Config, RunFolder, apply, check_hardware

MAX_PROCESSES = 8
"""Runs that the page may have under way."""
MAX_SETTINGS = 200
OWN_SETTINGS = frozenset({"game", "recipe", "run.cluster", "run.elo_anchors"})
"""Settings that name programs, files or other machines: only for the command line."""
LOG_BYTES = 4000
INTERRUPTED = (130, -signal.SIGINT)
"""Exit codes of a process that was stopped before its run began."""

Settings = Mapping[str, object]


@dataclass(frozen=True)
class _Process:
    popen: subprocess.Popen[bytes]
    log: IO[bytes]

    def is_alive(self) -> bool:
        return self.popen.poll() is None

    def last_words(self) -> str:
        """Return the last line that the process wrote."""
        size = os.fstat(self.log.fileno()).st_size
        text = os.pread(self.log.fileno(), LOG_BYTES, max(0, size - LOG_BYTES))
        lines = [line.strip() for line in text.decode(errors="replace").splitlines()]
        return next((line for line in reversed(lines) if line), "it said nothing")


class RunControl:
    """Starts, stops and resumes the runs of a shelf; `games` are names and what trains them."""

    def __init__(self, shelf: RunShelf, games: Mapping[str, str]) -> None:
        self._shelf, self.games = shelf, games
        self._processes: dict[str, _Process] = {}
        self._lock = threading.Lock()

    def start(self, game: str, minutes: float, settings: Settings) -> LiveRun:
        """Start a new run, or raise RookeryError."""
        home = self._shelf.home
        if home is None:
            raise ConfigError("there is no folder for new runs; start rookery serve with a folder")
        if game not in self.games:
            known = ", ".join(sorted(self.games))
            raise ConfigError(f"there is no game {game[:80]!r} to train; known: {known}")
        source, texts = self.games[game], read_settings(settings)
        config = apply(start_from(source, None, "auto"), [*length_settings(minutes, None), *texts])
        check_hardware(config)
        with self._lock:
            self._check_room()
            path = self._free(home, load_game(source).name)
            run = self._shelf.add(path)
            run.is_awaited, run.state = True, STARTING
            options = _options(minutes, texts)
            command = ["train", source, "--run", str(path), *options]
            self._processes[run.name] = _launch(command, home)
        return run

    def resume(self, run: LiveRun, minutes: float) -> LiveRun:
        """Resume a run until it has taken `minutes` in all, or raise RookeryError."""
        if self.state(run) in ("running", STARTING):
            raise RunFolderError(f"{run.name} is being trained already")
        folder = RunFolder(run.path)
        check_config(folder.config)
        config = apply(folder.config, length_settings(minutes, None))
        check_hardware(config)
        if config.run.progress(run.history.seconds, run.history.iteration) >= 1.0:
            taken = run.history.seconds / 60
            raise ConfigError(
                f"{run.name} has taken {taken:.1f} minutes already; give more minutes in total"
            )
        with self._lock:
            self._check_room()
            command = ["resume", str(run.path), *_options(minutes, [])]
            self._processes[run.name] = _launch(command, run.path.parent)
        return run

    def stop(self, run: LiveRun) -> LiveRun:
        """Ask the process that trains a run to stop, as Ctrl-C does, or raise RookeryError."""
        own = self._processes.get(run.name)
        if own is not None and own.is_alive():
            os.kill(own.popen.pid, signal.SIGINT)
            return run
        process = _trainer(run.path / ".lock")
        if process is None:
            raise RunFolderError(f"{run.name} is not being trained by a process of this machine")
        with suppress(psutil.NoSuchProcess):
            process.send_signal(signal.SIGINT)
        return run

    def state(self, run: LiveRun) -> str:
        """Return the state of a run, in which it may also be starting."""
        self._update(run)
        own = self._processes.get(run.name)
        if own is not None and own.is_alive() and run.state != "running":
            return STARTING
        return run.state

    def problem(self, run: LiveRun) -> str:
        """Return why the process of a run that was started here failed; empty if it did not."""
        own = self._processes.get(run.name)
        if own is None or own.popen.poll() in (None, 0, *INTERRUPTED):
            return ""
        return f"the last start failed: {run.without_path(own.last_words())}"

    def _update(self, run: LiveRun) -> None:
        """Note that an awaited folder is there, or will never be."""
        own = self._processes.get(run.name)
        if not run.is_awaited or own is None:
            return
        if is_run(run.path):
            run.is_awaited = False
            run.refresh()
        elif not own.is_alive() and run.state != DAMAGED:
            run.state, run.problem = DAMAGED, "the run did not start"
            run.version += 1

    def _check_room(self) -> None:
        if sum(process.is_alive() for process in self._processes.values()) >= MAX_PROCESSES:
            raise RunFolderError(f"{MAX_PROCESSES} runs are under way already; stop one first")

    def _free(self, home: Path, game: str) -> Path:
        """Return a folder that neither exists nor is awaited."""
        taken = {run.path for run in self._shelf.runs() if run.is_awaited}
        path, number = free_folder(home, game), 1
        stem = path.name.rpartition("-")[0]
        while path in taken or os.path.lexists(path):
            number += 1
            path = home / f"{stem}-{number}"
        return path


def read_settings(settings: Settings) -> list[str]:
    """Return settings as --set takes them; raise ConfigError for those of terminals only."""
    if len(settings) > MAX_SETTINGS:
        raise ConfigError(f"{len(settings)} settings are too many; give at most {MAX_SETTINGS}")
    for name, value in settings.items():
        if name.strip() in OWN_SETTINGS:
            raise ConfigError(f"{name} cannot be set from the page; use rookery train --set")
        if not isinstance(value, str | int | float):
            raise ConfigError(f"{name[:80]} must be a number, a word, true or false")
    return [f"{name}={_text(value)}" for name, value in settings.items()]


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def check_config(config: Config) -> None:
    """Raise ConfigError if a run would start programs or talk to other machines."""
    if config.run.cluster or "uci:" in config.run.elo_anchors:
        raise ConfigError(
            "this run uses a cluster or an engine; resume it in a terminal with rookery resume"
        )


def _options(minutes: float, settings: list[str]) -> list[str]:
    """Return options; a value is joined to its option, so that it cannot be read as another."""
    return [f"--minutes={minutes}", *(f"--set={text}" for text in settings)]


def _launch(command: list[str], folder: Path) -> _Process:
    log = tempfile.TemporaryFile()  # noqa: SIM115  closed with the last process that has it
    folder.mkdir(parents=True, exist_ok=True)
    popen = subprocess.Popen(
        [sys.executable, "-m", "rookery", *command],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    return _Process(popen, log)


def _trainer(lock: Path) -> psutil.Process | None:
    """Return the process of this user that holds a lock file open and is a command of Rookery."""
    real, found = os.path.realpath(lock), []
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if process.pid != os.getpid() and any(
                each.path == real for each in process.open_files()
            ):
                found.append(process)
    pids = {process.pid for process in found}
    for process in found:
        with suppress(psutil.Error, OSError):
            if process.ppid() not in pids and _is_command(process.cmdline()):
                return process
    return None


def _is_command(words: list[str]) -> bool:
    """Whether a process is `rookery train` or `rookery resume`; others may not stop cleanly."""
    return any("rookery" in word for word in words[:4]) and bool({"train", "resume"} & {*words[:5]})
