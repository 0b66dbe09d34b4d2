"""The games that the page offers: shipped ones, those of the given runs, given rules files.

A client names a game by a key that the catalogue has given, never by a path. The rules file of a
run is executed only if this user trusts it.
"""

import os
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rookery.base import RookeryError, UnknownName
from rookery.games import Game, game_names, load_game
from rookery.interface.web.run_shelf import RunShelf
from rookery.training import RunFolder

TITLES = {"chess": "Chess", "connect4": "Connect Four", "tictactoe": "Tic-Tac-Toe"}


class Catalogue:
    """Games by key."""

    def __init__(
        self, shelf: RunShelf, rules: Iterable[Path] = (), *, trust_rules: bool = False
    ) -> None:
        self.shelf, self.trust_rules = shelf, trust_rules
        self._games = {name: load_game(name) for name in game_names()}
        self._of_runs: dict[Path, tuple[int, str]] = {}
        """Time of run.json and key of the game of each run."""
        self._lock = threading.Lock()
        for path in rules:
            self.key_of(load_game(str(path)))

    def find(self, key: str) -> Game | None:
        """Return the game of this key if it is known already."""
        return self._games.get(key)

    def game(self, key: str) -> Game:
        """Return the game of this key, or raise UnknownName."""
        if key not in self._games:
            self.refresh()
        with self._lock:
            if key in self._games:
                return self._games[key]
            raise UnknownName("game", key, self._games)

    def key_of(self, game: Game) -> str:
        """Return the key of a game; it is known from now on."""
        with self._lock:
            key = game.name
            if key in self._games and self._games[key].digest != game.digest:
                key = f"{game.name} {game.digest[:8]}"
            self._games.setdefault(key, game)
            return key

    def refresh(self) -> None:
        """Add the games of runs that have appeared."""
        for run in self.shelf.runs():
            self.game_of_run(run.path)

    def game_of_run(self, path: Path) -> str | None:
        """Return the key of the game of a run; None if its rules are missing or not trusted."""
        try:
            stamp = os.stat(path / "run.json").st_mtime_ns
            known = self._of_runs.get(path)
            if known is None or known[0] != stamp:
                folder = RunFolder(path, trust_rules=self.trust_rules)
                known = self._of_runs[path] = stamp, self.key_of(folder.game)
        except (OSError, RookeryError):
            return None
        return known[1]

    def to_plain(self) -> list[dict[str, Any]]:
        """Return all games for the page."""
        self.refresh()
        with self._lock:
            games = dict(self._games)
        return [_describe(key, game) for key, game in games.items()]


def _describe(key: str, game: Game) -> dict[str, Any]:
    name = game.name.partition(":")[0]
    return {
        "name": key,
        "title": TITLES.get(key) or TITLES.get(name, name.capitalize()) + key[len(name) :],
        "planes": list(game.planes_shape),
        "has_positions": "read_position" in game.notation,
        "has_games": game.has_game_notation,
        "is_own": bool(game.digest),
    }
