"""`rookery rate`: an Elo rating by games against opponents of known strength."""

import json
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rookery.interface.cli.settings import (
    AsJson,
    Devices,
    Seed,
    TrustRules,
    check_new_files,
    finite,
    print_device_note,
    print_forfeits,
    print_note,
    whole,
)

if TYPE_CHECKING:
    from rookery.arena import RatingCallback, RatingEstimate, RatingPlan, RatingReport

SIMULATIONS = 32
"""Simulations per move, unless the option or the player's name says otherwise."""


def rate(
    player: Annotated[
        str,
        typer.Argument(
            metavar="RUN", help="Rate RUN, RUN:SIMULATIONS, RUN@ITERATION, or another player."
        ),
    ],
    ladder: Annotated[
        str, typer.Option(help="Play against the opponents of this ladder.")
    ] = "stockfish",
    games: Annotated[
        int,
        typer.Option(
            parser=whole(2, "MAX_GAMES"),
            metavar="N",
            help="Play at most N games, half with each colour.",
        ),
    ] = 200,
    width: Annotated[
        float,
        typer.Option(help="Stop when the 95 % interval is narrower than this, in Elo."),
    ] = 0.0,
    simulations: Annotated[
        int,
        typer.Option(
            parser=whole(0, "MAX_SIMULATIONS"),
            metavar="N",
            help="Run N simulations per move, unless RUN says otherwise.",
        ),
    ] = SIMULATIONS,
    rungs: Annotated[
        str | None,
        typer.Option(help="Play only these opponents of the ladder, separated by commas."),
    ] = None,
    at_once: Annotated[
        int,
        typer.Option(
            parser=whole(2, "MAX_GAMES"), metavar="N", help="Play N games at the same time."
        ),
    ] = 64,
    seed: Seed = 1,
    games_file: Annotated[
        Path | None, typer.Option(help="Write the games to this file, one JSON array per line.")
    ] = None,
    pgn: Annotated[Path | None, typer.Option(help="Write the games to this file, as PGN.")] = None,
    devices: Devices = "auto",
    as_json: AsJson = False,
    trust_rules: TrustRules = False,
) -> None:
    """Rate a player in Elo, by games against opponents of known strength."""
    from rookery.arena import RatingPlan, load_ladder, rate_player
    from rookery.base import write_atomic
    from rookery.games import load_game
    from rookery.interface.game_files import rating_games, require_notation, write_games
    from rookery.interface.players import read_player_spec

    check_new_files(games_file, pgn)
    plan = RatingPlan(games, width=width, at_once=at_once, seed=seed)
    scale = load_ladder(ladder)
    scale = scale.only(rungs.split(",")) if rungs else scale
    rules = load_game(scale.game)
    if pgn is not None:
        require_notation(rules)
    player_spec = read_player_spec(
        player,
        rules,
        inference="auto",
        devices=devices,
        simulations=simulations,
        trust_rules=trust_rules,
    )
    scale.check(rules)
    if player_spec.kind == "net":
        print_device_note(devices, as_json=as_json)
    with _progress(plan) as watch:
        rated = player_spec.player(rules, seed=seed)
        report = rate_player(rules, rated, scale, plan=plan, callback=watch)
    if report.was_interrupted:
        print_note(
            f"stopped after {len(report.games)} of {games} games; unfinished games do not count"
        )
    print_forfeits(report.faults)
    if as_json:
        print(json.dumps(_plain(report, simulations=player_spec.simulations)))
    else:
        _show(report, simulations=player_spec.simulations)
    if games_file:  # one line per game: the rung, then the game, in which player a is rated
        lines = [json.dumps([each.rung, *each.game.to_plain()]) for each in report.games]
        write_atomic(games_file, "".join(f"{line}\n" for line in lines).encode("ascii"))
    if pgn is not None:
        write_games(rules, rating_games(report), pgn)


@contextmanager
def _progress(plan: "RatingPlan") -> Iterator["RatingCallback"]:
    """Show the number of games and the rating so far, in a terminal."""
    from rookery.interface.formatting import rating, screen

    console = screen()
    status = console.status(f"0 of {plan.games} games")

    def watch(done: int, estimate: "RatingEstimate") -> None:
        status.update(f"{done} of {plan.games} games, rating {rating(estimate)}")

    with status if console.is_terminal else nullcontext():
        yield watch


def _show(report: "RatingReport", *, simulations: int) -> None:
    from rookery.interface.formatting import screen
    from rookery.interface.tables import rating_verdict, rung_table

    console = screen()
    search = f" with {simulations} simulations" if simulations else ""
    console.print(f"{report.player}{search} on the ladder {report.ladder}", style="bold")
    console.print(rung_table(report))
    console.print(rating_verdict(report))


def _plain(report: "RatingReport", *, simulations: int) -> dict[str, Any]:
    """Return the fields of a JSON object, without games; null is an unbounded rating."""
    rungs = [
        {"rung": asdict(row.rung), **asdict(row.counts), "expected": row.expected}
        for row in report.rows
    ]
    return {
        "player": report.player,
        "simulations": simulations,
        "ladder": report.ladder,
        **finite(report.estimate),
        "margin": report.margin,
        "games": len(report.games),
        "was_interrupted": report.was_interrupted,
        "distinct_games": report.distinct_games,
        "forfeited": len(report.faults),
        "rungs": rungs,
    }
