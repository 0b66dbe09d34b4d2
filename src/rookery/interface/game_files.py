"""Game files in PGN: games of a match, of a rating, and of self-play."""

import time
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from rookery.arena import MatchGame, MatchReport, RatingReport
from rookery.base import ConfigError, write_atomic
from rookery.games import Game, ScoreSheet
from rookery.replay import GameTrace, read_shard, trace_games
from rookery.training import RunFolder


def require_notation(rules: Game) -> None:
    """Raise ConfigError if the game has no notation for files."""
    if not hasattr(rules.module, "write_games"):
        raise ConfigError(f"PGN is for chess, not for {rules.name}; leave out --pgn")


def write_games(rules: Game, games: Iterable[ScoreSheet], path: Path) -> None:
    """Write games to a file in their notation."""
    write_atomic(path, rules.module.write_games(games).encode())


def match_games(report: MatchReport) -> Iterator[ScoreSheet]:
    """Yield the games of a match; rounds 3.1 and 3.2 are the two from the third opening."""
    event = f"{report.a} against {report.b}"
    for index, game in enumerate(report.games):
        headers = {"Event": event, "Round": f"{index // 2 + 1}.{index % 2 + 1}"}
        yield _played_game(game, (report.a, report.b), headers)


def rating_games(report: RatingReport) -> Iterator[ScoreSheet]:
    """Yield the games of a rating, in the order in which they ended."""
    event = f"{report.player} on the ladder {report.ladder}"
    for number, rated in enumerate(report.games, 1):
        headers = {"Event": event, "Round": str(number)}
        yield _played_game(rated.game, (report.player, rated.rung), headers)


def _played_game(game: MatchGame, names: tuple[str, str], headers: dict[str, str]) -> ScoreSheet:
    """Return a game between the players a and b."""
    white, black = names if game.a_first else names[::-1]
    tags = {"Site": "rookery", "Date": time.strftime("%Y.%m.%d")}
    result = game.result if game.a_first else -game.result
    tags = {**headers, **tags, "White": white, "Black": black}
    return ScoreSheet(game.opening + game.moves, result, headers=tags)


def selfplay_games(folder: RunFolder, count: int) -> list[ScoreSheet]:
    """Return up to `count` of the newest self-play games, rebuilt from the replay rows."""
    games = list(islice(_newest(folder), count))
    if not games:
        raise ConfigError(f"{folder.path} has no games yet; train it longer")
    return games


def _newest(folder: RunFolder) -> Iterator[ScoreSheet]:
    for path in sorted((folder.path / "replay").glob("*.shard"), reverse=True):
        for trace in trace_games(read_shard(path, game=folder.game), folder.game):
            yield _selfplay_game(folder, trace, path.stem)


def _selfplay_game(folder: RunFolder, trace: GameTrace, shard: str) -> ScoreSheet:
    """Return one game, which starts after its random opening."""
    first = trace.states[0]
    headers = {
        "Event": f"self-play of {folder.path.name}",
        "Site": "rookery",
        "Round": str(int(shard)),
        "White": folder.path.name,
        "Black": folder.path.name,
        "Termination": "adjudication",  # the result is known, the last move is not
    }
    result = -trace.result if first["black"] else trace.result
    start = folder.game.module.write_position(first)
    return ScoreSheet(trace.actions, result, start, headers)
