"""Games that a run is given to learn from, as shards that it takes into its window one by one.

given/000000.safetensors   rows of whole games, in the order of the files

PGN files hold the games of chess, `.jsonl` files those of any game, one JSON object per line:
{"moves": ["a1", "b2"], "result": "1-0"}, with moves as `rookery play` takes them. Files are read
piece by piece, so that they may be larger than memory.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from pydantic import Field

from rookery.base import (
    MALFORMED,
    ConfigError,
    FileDamaged,
    IllegalPosition,
    link_or_copy,
    numbered_files,
    open_file,
)
from rookery.games import ONGOING, RESULT_TEXTS, RESULTS, Board, Game, GameRecord
from rookery.replay import Rows, concatenate, count, given_rows, read_shard, shard_path, write_shard

FOLDER = "given"
SHARD_ROWS = 8192
"""Rows of a shard, at least, except for the last."""
MAX_GAME = 200_000
"""Bytes of one game in a file, at most."""
NEW_GAME = b"[Event "


@dataclass(frozen=True)
class GivenGames:
    """What the run folder records of them."""

    files: tuple[str, ...]
    games: int
    positions: int
    shards: Annotated[int, Field(ge=0)]
    skipped: dict[str, int] = field(default_factory=dict)
    """Games that could not be used, by reason."""
    example: str = ""
    """The first of them."""

    @property
    def note(self) -> str:
        """One line that says what was read."""
        games = f"{self.games:,} game{'' if self.games == 1 else 's'}"
        read = f"read {games}, {self.positions:,} positions, from "
        reasons = ", ".join(f"{number:,} {reason}" for reason, number in self.skipped.items())
        left_out = f"; skipped {sum(self.skipped.values()):,}: {reasons}" if reasons else ""
        example = f" (the first is {self.example})" if self.example else ""
        return f"{read}{', '.join(self.files)}{left_out}{example}"


class GivenShards:
    """The shards of a run's given games, taken one by one."""

    def __init__(self, run: Path, game: Game, shards: int) -> None:
        self._run, self._game, self._shards = run, game, shards
        self.taken = 0
        """Shards taken so far."""
        self.rows = 0
        """Rows of those."""

    @property
    def is_left(self) -> bool:
        """Whether a shard is left to take."""
        return self.taken < self._shards

    def take(self) -> Rows:
        """Return the rows of the next shard."""
        rows = read_shard(shard_path(self._run / FOLDER, self.taken), game=self._game)
        self.taken += 1
        self.rows += count(rows)
        return rows


@dataclass
class _Tally:
    """What has been read so far."""

    games: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    example: str = ""

    def skip(self, error: IllegalPosition) -> None:
        """Count a game that cannot be used; readers number the games of a piece from 1."""
        number, why = self.games + self.skipped.total() + 1, str(error.__cause__ or error)
        self.example = self.example or f"game {number}: {why.removeprefix('game 1, ')}"
        self.skipped[str(error)] += 1


def write_given(run: Path, files: Sequence[Path], *, game: Game) -> GivenGames:
    """Write the games of `files` as shards of a run folder; ConfigError if there are none."""
    (run / FOLDER).mkdir()
    tally, shards, positions = _Tally(), 0, 0
    for rows in _in_shards(_usable(files, game, tally)):
        write_shard(shard_path(run / FOLDER, shards), rows, game=game)
        shards, positions = shards + 1, positions + count(rows)
    given = GivenGames(
        files=tuple(map(str, files)),
        games=tally.games,
        positions=positions,
        shards=shards,
        skipped=dict(tally.skipped),
        example=tally.example,
    )
    if not given.games:
        raise ConfigError(f"{given.note}; give a file with finished games of {game.name}")
    return given


def _in_shards(games: Iterable[Rows]) -> Iterator[Rows]:
    """Yield the rows of as many games as a shard holds."""
    parts: list[Rows] = []
    size = 0
    for rows in games:
        parts.append(rows)
        size += count(rows)
        if size >= SHARD_ROWS:
            yield concatenate(parts)
            parts, size = [], 0
    if parts:
        yield concatenate(parts)


def _usable(files: Sequence[Path], game: Game, tally: _Tally) -> Iterator[Rows]:
    """Yield the rows of every game that can be used."""
    for record in (record for path in files for record in _read(path, game)):
        try:
            if isinstance(record, IllegalPosition):
                raise record
            rows = _rows(record, game)
        except IllegalPosition as error:
            tally.skip(error)
        else:
            tally.games += 1
            yield rows


def _rows(record: GameRecord, game: Game) -> Rows:
    first = game.position(record.start) if record.start else game.new_states(1)[0]
    is_second = "black" in (first.dtype.names or ()) and bool(first["black"])
    is_over = record.result != ONGOING
    result = -record.result if is_over and is_second else record.result
    return given_rows(game, first, record.actions, result)


def _read(path: Path, game: Game) -> Iterator[GameRecord | IllegalPosition]:
    """Yield the games of a file, or why a game could not be read."""
    is_plain = path.suffix == ".jsonl"
    if not is_plain and not game.has_game_notation:
        raise ConfigError(f"{path}: games of {game.name} are read from .jsonl files")
    for text in _pieces(path, separator=b"" if is_plain else NEW_GAME):
        if len(text) > MAX_GAME:
            yield IllegalPosition(f"longer than {MAX_GAME:,} bytes")
            continue
        try:
            if is_plain:
                yield _read_line(text, game)
            else:
                yield from game.read_games(text.decode("utf-8", "replace"))
        except IllegalPosition as error:
            skipped = IllegalPosition("unreadable")
            skipped.__cause__ = error
            yield skipped


def _pieces(path: Path, *, separator: bytes) -> Iterator[bytes]:
    """Yield the text of a file in pieces that begin with lines that begin with `separator`.

    A piece that is too long is cut, but stays too long.
    """
    piece = b""
    try:
        with open_file(path) as file:
            while line := file.readline(MAX_GAME):
                if line.startswith(separator) and piece.strip():
                    yield piece
                    piece = b""
                if len(piece) <= MAX_GAME:
                    piece += line
    except FileNotFoundError as error:
        raise ConfigError(f"{path} does not exist; give a file of games") from error
    except IsADirectoryError as error:
        raise ConfigError(f"{path} is a folder; give a file of games") from error
    except FileDamaged as error:
        raise ConfigError(f"{path} is not a regular file; give a file of games") from error
    if piece.strip():
        yield piece


def _read_line(text: bytes, game: Game) -> GameRecord:
    board = Board(game)
    try:
        plain = json.loads(text)
        result, moves = RESULTS[plain["result"]], plain["moves"]
        if not isinstance(moves, list) or not all(isinstance(move, str) for move in moves):
            raise TypeError("moves are not a list of texts")
    except MALFORMED as error:
        raise IllegalPosition("not a game record") from error
    if "start" in plain:
        raise IllegalPosition("it does not begin in the first position")
    for move in moves:
        if game.rules.outcome(board.state) != ONGOING:
            raise IllegalPosition("a move after the end")
        board.play(game.read_move(board.state, move))
    return GameRecord(tuple(board.actions), result)


def copy_given(run: Path, target: Path) -> None:
    """Copy the given games of a run into the folder of another one."""
    if shards := numbered_files(run / FOLDER):
        (target / FOLDER).mkdir()
        for path in shards.values():
            link_or_copy(path, target / FOLDER / path.name)


def write_record(record: GameRecord, game: Game) -> str:
    """Return a game as a line that `.jsonl` files hold; it begins in the first position."""
    board, moves = Board(game), []
    for action in record.actions:
        moves.append(game.write_move(board.state, action))
        board.play(action)
    return json.dumps({"moves": moves, "result": RESULT_TEXTS[record.result]}) + "\n"
