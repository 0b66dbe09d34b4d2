"""`rookery match`: a match between two players."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rookery.interface.cli.completion import complete_game, complete_net
from rookery.interface.cli.settings import (
    AsJson,
    ClusterAddress,
    EvaluationDevices,
    Seed,
    TrustRules,
    Workers,
    check_new_files,
    count_workers,
    evaluation_places,
    finite,
    print_device_note,
    print_forfeits,
    print_note,
    whole,
)

if TYPE_CHECKING:
    from rookery.arena import MatchReport
    from rookery.games import Game

PLAYERS = (
    "Play random, minimax:4, solver, RUN, RUN:SIMULATIONS, RUN@ITERATION:SIMULATIONS, "
    "connect4:400, RUN+RUN (averaged networks); for chess stockfish:1350, fairy:-10, uci:COMMAND."
)


def match(
    a: Annotated[str, typer.Argument(metavar="A", autocompletion=complete_net, help=PLAYERS)],
    b: Annotated[
        str,
        typer.Argument(
            metavar="B", autocompletion=complete_net, help="Play against this player, named as A."
        ),
    ],
    games: Annotated[
        int,
        typer.Option(
            parser=whole(2, "MAX_GAMES"), metavar="N", help="Play N games, half with each colour."
        ),
    ] = 100,
    game: Annotated[
        str | None,
        typer.Option(
            metavar="GAME",
            autocompletion=complete_game,
            help="Play this game; needed if neither player is a run.",
        ),
    ] = None,
    seed: Seed = 1,
    opening_plies: Annotated[
        int | None,
        typer.Option(
            parser=whole(0, "MAX_PLIES"),
            metavar="N",
            help="Start after N random plies; by default after 2 to 4, "
            "or with openings from the game's book.",
        ),
    ] = None,
    devices: EvaluationDevices = "auto",
    workers: Workers = "auto",
    cluster: ClusterAddress = None,
    as_json: AsJson = False,
    pgn: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the games to this file, as PGN; for chess."),
    ] = None,
    jsonl: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the games to this file, one JSON object per line; for any game.",
        ),
    ] = None,
    trust_rules: TrustRules = False,
) -> None:
    """Play a match: pairs of games from the same opening, with colours swapped."""
    from rookery.api import read_player_spec
    from rookery.arena import MatchPlan, default_plies, has_book
    from rookery.interface.game_files import (
        match_games,
        require_notation,
        write_games,
        write_records,
    )
    from rookery.training import play_match_over

    check_new_files(pgn, jsonl)
    rules = _game(game, (a, b), trust_rules=trust_rules)
    if pgn is not None:
        require_notation(rules)
    by_book = opening_plies is None and has_book(rules)
    plies = default_plies(rules) if opening_plies is None else opening_plies
    places = evaluation_places(devices)
    first, second = (
        read_player_spec(text, rules, inference="auto", devices=places[0], trust_rules=trust_rules)
        for text in (a, b)
    )
    if "net" in (first.kind, second.kind):
        print_device_note(devices, as_json=as_json)
    report = play_match_over(
        rules,
        MatchPlan(games, seed, plies, book=by_book),
        first,
        second,
        workers=count_workers(workers, places),
        on_note=print_note,
        cluster=cluster or "",
        devices=places,
    )
    print_forfeits(report.faults)
    if as_json:
        print(json.dumps(_plain(report, rules)))
    else:
        _show(report, rules, openings="the book" if by_book else f"{plies} random plies")
    if pgn is not None:
        write_games(rules, match_games(report), pgn)
    if jsonl is not None:
        write_records(rules, match_games(report), jsonl)


def _game(name: str | None, texts: tuple[str, str], *, trust_rules: bool) -> "Game":
    """Return the game of the players and the option, which must agree."""
    from rookery.api import read_net
    from rookery.base import ConfigError
    from rookery.games import load_game

    nets = [read_net(text, trust_rules=trust_rules) for text in texts]
    found = {net.game.name: net.game for net in nets if net is not None}
    if name is not None:
        rules = load_game(name)
        found.setdefault(rules.name, rules)
    if not found:
        raise ConfigError("neither player is a run; name the game, as in --game connect4")
    if len(found) > 1:
        raise ConfigError(f"the players are of different games: {' and '.join(sorted(found))}")
    return next(iter(found.values()))


def _show(report: "MatchReport", rules: "Game", *, openings: str) -> None:
    from rookery.interface.formatting import screen
    from rookery.interface.tables import match_table, match_verdict

    console = screen()
    console.print(
        f"{report.a} against {report.b}: {rules.name}, {report.total.games // 2} openings of "
        f"{openings}, each played twice",
        style="bold",
    )
    console.print(match_table(report))
    console.print(match_verdict(report))


def _plain(report: "MatchReport", rules: "Game") -> dict[str, Any]:
    """Return the fields of a JSON object, without games; null is an unbounded Elo."""
    counts = {name: asdict(getattr(report, name)) for name in ("total", "first", "second")}
    return {
        "game": rules.name,
        "a": report.a,
        "b": report.b,
        **counts,
        "distinct_games": report.distinct_games,
        "forfeited": len(report.faults),
        "difference": finite(report.difference),
    }
