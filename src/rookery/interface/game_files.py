"""Game files in PGN and JSON: games of a match, of a rating, and of self-play."""

import time
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from rookery.arena import MatchGame, MatchReport, RatingReport
from rookery.base import ConfigError, numbered_files, write_atomic
from rookery.games import Game, GameRecord
from rookery.replay import GIVEN, games_in, read_shard
from rookery.training import RunFolder, write_record


def require_notation(rules: Game) -> None:
    """Raise ConfigError if the game has no notation for files."""
    if not rules.has_game_notation:
        raise ConfigError(f"PGN is for chess, not for {rules.name}; leave out --pgn")


def write_games(rules: Game, games: Iterable[GameRecord], path: Path) -> None:
    """Write games to a file in their notation."""
    write_atomic(path, rules.write_games(games).encode(errors="backslashreplace"))


def write_records(rules: Game, games: Iterable[GameRecord], path: Path) -> None:
    """Write games to a file, one JSON object per line, as `train --games` reads them."""
    write_atomic(path, "".join(write_record(game, rules) for game in games).encode())


def match_games(report: MatchReport) -> Iterator[GameRecord]:
    """Yield the games of a match; rounds 3.1 and 3.2 are the two from the third opening."""
    event = f"{report.a} against {report.b}"
    for index, game in enumerate(report.games):
        headers = {"Event": event, "Round": f"{index // 2 + 1}.{index % 2 + 1}"}
        yield _played_game(game, (report.a, report.b), headers)


def rating_games(report: RatingReport) -> Iterator[GameRecord]:
    """Yield the games of a rating, in the order in which they ended."""
    event = f"{report.player} on the ladder {report.ladder}"
    for number, rated in enumerate(report.games, 1):
        headers = {"Event": event, "Round": str(number)}
        yield _played_game(rated.game, (report.player, rated.rung), headers)


def _played_game(game: MatchGame, names: tuple[str, str], headers: dict[str, str]) -> GameRecord:
    """Return a game between the players a and b."""
    white, black = names if game.a_first else names[::-1]
    result = game.result if game.a_first else -game.result
    site = {"Site": "rookery", "Date": time.strftime("%Y.%m.%d")}
    tags = {**headers, **site, "White": white, "Black": black}
    return GameRecord(game.opening + game.moves, result, headers=tags)


def selfplay_games(folder: RunFolder, count: int) -> list[GameRecord]:
    """Return up to `count` of the newest self-play games, rebuilt from the replay rows."""
    games = list(islice(_newest(folder), count))
    if not games:
        raise ConfigError(f"{folder.path} has no games yet; train it longer")
    return games


def _newest(folder: RunFolder) -> Iterator[GameRecord]:
    """Yield the games, each from the end of its random opening on."""
    name = folder.path.name
    for number, path in reversed(numbered_files(folder.path / "replay").items()):
        headers = {"Event": f"self-play of {name}", "Site": "rookery", "Round": str(number)}
        headers |= {"White": name, "Black": name}
        rows = read_shard(path, game=folder.game)
        if (rows.iterations == GIVEN).any():
            continue
        for played in games_in(rows):
            result = -played.result if played.first["black"] else played.result
            start = folder.game.write_position(played.first)
            yield GameRecord(played.moves, result, start, headers)
