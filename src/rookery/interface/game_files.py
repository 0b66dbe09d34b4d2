"""Games written down for people: those of a match, of a rating, and of a run's self-play."""

import time
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from rookery.arena import MatchGame, MatchReport, RatingReport
from rookery.base import ConfigError, write_atomic
from rookery.games import Game, GameRecord
from rookery.replay import PlayedGame, games_in, read_shard
from rookery.training import RunFolder


def require_notation(rules: Game) -> None:
    """ConfigError if nobody writes games of these rules down."""
    if not rules.has_game_notation:
        raise ConfigError(f"games of {rules.name} are not written in PGN; it is for chess")


def write_sheets(rules: Game, sheets: Iterable[GameRecord], path: Path) -> None:
    """Write games in the notation of their rules."""
    write_atomic(path, rules.write_games(sheets).encode())


def match_sheets(report: MatchReport) -> Iterator[GameRecord]:
    """The games of a match; rounds are pairs, 3.1 and 3.2 being the two from the third opening."""
    event = f"{report.a} against {report.b}"
    for index, game in enumerate(report.games):
        headers = {"Event": event, "Round": f"{index // 2 + 1}.{index % 2 + 1}"}
        yield _played_sheet(game, (report.a, report.b), headers)


def climb_sheets(report: RatingReport) -> Iterator[GameRecord]:
    """The games by which a player was rated, in the order of their ends."""
    event = f"{report.player} on the ladder {report.ladder}"
    for number, rated in enumerate(report.games, 1):
        headers = {"Event": event, "Round": str(number)}
        yield _played_sheet(rated.game, (report.player, rated.rung), headers)


def _played_sheet(game: MatchGame, names: tuple[str, str], headers: dict[str, str]) -> GameRecord:
    """A game of the players a and b."""
    white, black = names if game.a_first else names[::-1]
    place = {"Site": "rookery", "Date": time.strftime("%Y.%m.%d")}
    result = game.result if game.a_first else -game.result
    everything = {**headers, **place, "White": white, "Black": black}
    return GameRecord(game.opening + game.moves, result, headers=everything)


def run_sheets(folder: RunFolder, count: int) -> list[GameRecord]:
    """The newest games of a run's self-play, at most `count`, as far as its rows tell."""
    sheets = list(islice(_newest(folder), count))
    if not sheets:
        raise ConfigError(f"{folder.path} has kept no games yet; let it train a little longer")
    return sheets


def _newest(folder: RunFolder) -> Iterator[GameRecord]:
    for path in sorted((folder.path / "replay").glob("*.safetensors"), reverse=True):
        for played in games_in(read_shard(path, game=folder.game)):
            yield _sheet(folder, played, path.stem)


def _sheet(folder: RunFolder, played: PlayedGame, shard: str) -> GameRecord:
    """One game; it starts where its random opening ends."""
    first = played.first
    headers = {
        "Event": f"self-play of {folder.path.name}",
        "Site": "rookery",
        "Round": str(int(shard)),
        "White": folder.path.name,
        "Black": folder.path.name,
    }
    result = -played.result if first["black"] else played.result
    start = folder.game.write_position(first)
    return GameRecord(played.moves, result, start, headers)
