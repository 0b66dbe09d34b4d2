"""A shard: the rows of finished games in one safetensors file, `000012.safetensors`."""

from pathlib import Path

from rookery.base import FileDamaged, RunFolderError, read_arrays, write_arrays
from rookery.games import Game
from rookery.replay.rows import Rows, from_columns, to_columns


def shard_path(folder: Path, number: int) -> Path:
    """Return the path of shard `number` in `folder`."""
    return folder / f"{number:06}.safetensors"


def write_shard(path: Path, rows: Rows, *, game: Game) -> None:
    """Write rows of `game`; the file appears whole or not at all."""
    header = {"kind": "rows", "game": game.name, "version": game.version}
    write_arrays(path, to_columns(rows), header)


def read_shard(path: Path, *, game: Game) -> Rows:
    """Return the rows of a shard; FileDamaged, or RunFolderError if it is of another game."""
    columns, header = read_arrays(path)
    if header.get("kind") != "rows" or sorted(columns) != sorted(Rows._fields):
        raise FileDamaged(f"{path} is not a shard of rows; restore it from a copy")
    found = f"{header.get('game')} version {header.get('version')}"
    if found != f"{game.name} version {game.version}":
        raise RunFolderError(
            f"{path} holds {found}, expected {game.name} version {game.version}; "
            "resume with the game the run was started with, or start a new run"
        )
    return from_columns(columns, game=game)
