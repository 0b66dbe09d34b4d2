"""Game files in PGN and JSON: games of a match, of a rating, and of self-play."""

import json
import time
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from rookery.arena import MatchGame, MatchReport, RatingReport
from rookery.base import ConfigError, numbered_files, write_atomic
from rookery.games import RESULT_TEXTS, Game, GameRecord
from rookery.replay import GIVEN, PlayedGame, games_in, read_shard
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


def selfplay_games(folder: RunFolder, count: int) -> list[tuple[int, PlayedGame]]:
    """Return up to `count` of the newest self-play games with the number of their shard.

    They are rebuilt from the replay rows, each from the end of its random opening on.
    """
    games = list(islice(_newest(folder), count))
    if not games:
        raise ConfigError(f"{folder.path} has no games yet; train it longer")
    return games


def _newest(folder: RunFolder) -> Iterator[tuple[int, PlayedGame]]:
    for number, path in reversed(numbered_files(folder.path / "replay").items()):
        rows = read_shard(path, game=folder.game)
        if not (rows.iterations == GIVEN).any():
            yield from ((number, played) for played in games_in(rows))


def to_record(folder: RunFolder, number: int, played: PlayedGame) -> GameRecord:
    """Return a self-play game in the notation of its game."""
    name = folder.path.name
    headers = {"Event": f"self-play of {name}", "Site": "rookery", "Round": str(number)}
    headers |= {"White": name, "Black": name}
    start = folder.game.write_position(played.first)
    return GameRecord(played.moves, _result(played), start, headers)


def write_selfplay(rules: Game, games: Iterable[PlayedGame], path: Path) -> None:
    """Write self-play games of any game to a file, one JSON object per line."""
    write_atomic(path, "".join(_selfplay_line(rules, played) for played in games).encode())


def _selfplay_line(rules: Game, played: PlayedGame) -> str:
    """Return a game as JSON; a first position without a notation is written field by field."""
    state, moves = played.first.copy(), list[str]()
    for action in played.moves:
        moves.append(rules.write_move(state, action))
        rules.rules.play(state, action)
    start: dict[str, object] = {}
    if played.plies and rules.has_position_notation:
        start = {"start": rules.write_position(played.first)}
    elif played.plies:
        names = rules.state_dtype.names or ()
        start = {"start": {name: played.first[name].tolist() for name in names}}
    result = RESULT_TEXTS[_result(played)]
    return json.dumps({**start, "plies": played.plies, "moves": moves, "result": result}) + "\n"


def _result(played: PlayedGame) -> int:
    """Return the result for the first player of the game."""
    return -played.result if played.plies % 2 else played.result
