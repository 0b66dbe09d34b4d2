"""`rookery rate`: Elo by games against opponents of known strength, or over a run's iterations."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
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
    from rookery.arena import Ladder, RatingCallback, RatingEstimate, RatingPlan, RatingReport
    from rookery.games import Game
    from rookery.training import EloHistory

SIMULATIONS = 32
"""Simulations per move, unless the option or the player's name says otherwise."""
GAMES = 200
HISTORY_GAMES = 64
"""Games of each iteration in a history."""
LADDER_GAMES = 40
"""Games of each match between the opponents of a game without a ladder."""


def rate(
    player: Annotated[
        str,
        typer.Argument(
            metavar="RUN",
            autocompletion=complete_net,
            help="Rate RUN, RUN:SIMULATIONS, RUN@ITERATION, or another player.",
        ),
    ],
    ladder: Annotated[
        str | None,
        typer.Option(
            metavar="LADDER",
            help="Play against the opponents of this ladder, by default the game's.",
        ),
    ] = None,
    game: Annotated[
        str | None,
        typer.Option(
            metavar="GAME",
            autocompletion=complete_game,
            help="Play this game, if the player has no network; by default chess.",
        ),
    ] = None,
    games: Annotated[
        int | None,
        typer.Option(
            parser=whole(2, "MAX_GAMES"),
            metavar="N",
            help="Play at most N games, half with each colour; by default 200, or 64 for each "
            "iteration of a history.",
        ),
    ] = None,
    width: Annotated[
        float,
        typer.Option(
            metavar="ELO", help="Stop when the 95 % interval is narrower than this, in Elo."
        ),
    ] = 0.0,
    simulations: Annotated[
        int | None,
        typer.Option(
            parser=whole(0, "MAX_SIMULATIONS"),
            metavar="N",
            help="Run N simulations per move, unless RUN says otherwise; by default 32, or "
            "run.elo_simulations for a history.",
        ),
    ] = None,
    rungs: Annotated[
        str | None,
        typer.Option(
            metavar="PLAYERS", help="Play only these opponents of the ladder, separated by commas."
        ),
    ] = None,
    at_once: Annotated[
        int,
        typer.Option(
            parser=whole(2, "MAX_GAMES"), metavar="N", help="Play N games at the same time."
        ),
    ] = 64,
    history: Annotated[
        bool,
        typer.Option(
            "--history", help="Rate the networks of RUN by iteration; play the missing games."
        ),
    ] = False,
    points: Annotated[
        int,
        typer.Option(
            parser=whole(1, "MAX_GAMES"), metavar="N", help="Rate N iterations of a history."
        ),
    ] = 12,
    seed: Seed = 1,
    games_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the games to this file, one JSON array per line."),
    ] = None,
    pgn: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the games to this file, as PGN.")
    ] = None,
    devices: EvaluationDevices = "auto",
    workers: Workers = "auto",
    cluster: ClusterAddress = None,
    as_json: AsJson = False,
    trust_rules: TrustRules = False,
) -> None:
    """Rate a player in Elo, by games against opponents of known strength."""
    from rookery.api import read_player_spec
    from rookery.arena import RatingPlan
    from rookery.base import write_atomic
    from rookery.interface.game_files import rating_games, require_notation, write_games
    from rookery.training import rate_over

    places = evaluation_places(devices)
    processes = count_workers(workers, places)
    if history:
        print_device_note(devices, as_json=as_json)
        _rate_history(
            Path(player),
            points=points,
            games=games or HISTORY_GAMES,
            simulations=simulations,
            devices=places,
            workers=processes,
            cluster=cluster or "",
            as_json=as_json,
            trust_rules=trust_rules,
        )
        return
    check_new_files(games_file, pgn)
    plan = RatingPlan(games or GAMES, width=width, at_once=at_once, seed=seed)
    rules = _game(player, game, ladder, trust_rules=trust_rules)
    if pgn is not None:
        require_notation(rules)
    player_spec = read_player_spec(
        player,
        rules,
        inference="auto",
        devices=places[0],
        simulations=SIMULATIONS if simulations is None else simulations,
        trust_rules=trust_rules,
    )
    scale = _ladder(rules, ladder, rungs, workers=processes, cluster=cluster or "", seed=seed)
    if player_spec.kind == "net":
        print_device_note(devices, as_json=as_json)
    with _progress(plan) as watch:
        report = rate_over(
            rules,
            player_spec,
            scale,
            plan=plan,
            workers=processes,
            on_note=print_note,
            cluster=cluster or "",
            devices=places,
            callback=watch,
        )
    if report.was_interrupted:
        print_note(
            f"stopped after {len(report.games)} of {plan.games} games; unfinished games do not "
            "count"
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


def _game(player: str, name: str | None, ladder: str | None, *, trust_rules: bool) -> "Game":
    """Return the game of the player's network, or of the options, or chess."""
    from rookery.api import read_net
    from rookery.arena import load_ladder
    from rookery.games import load_game

    net = read_net(player, trust_rules=trust_rules)
    if net is not None and name is None:
        return net.game
    if name is None:
        name = load_ladder(ladder).game if ladder else "chess"
    return load_game(name)


def _ladder(
    rules: "Game",
    name: str | None,
    rungs: str | None,
    *,
    workers: int | None,
    cluster: str,
    seed: int,
) -> "Ladder":
    """Return the ladder to rate on; for a game without one, rate its opponents first."""
    from rookery.arena import anchors_of, ladder_of, load_ladder
    from rookery.training import measure_ladder

    found = load_ladder(name) if name else ladder_of(rules)
    if found is not None:
        scale = found.only(rungs.split(",")) if rungs else found
        scale.check(rules)
        return scale
    players = rungs.split(",") if rungs else list(anchors_of(rules))
    return measure_ladder(
        rules,
        players,
        games=LADDER_GAMES,
        seed=seed,
        workers=workers,
        on_note=print_note,
        cluster=cluster,
    )


def _rate_history(
    path: Path,
    *,
    points: int,
    games: int,
    simulations: int | None,
    devices: Sequence[str],
    workers: int | None,
    cluster: str,
    as_json: bool,
    trust_rules: bool,
) -> None:
    from rookery.interface.formatting import screen
    from rookery.interface.tables import anchor_line, history_table
    from rookery.training import RunFolder, rate_history

    folder = RunFolder(path, trust_rules=trust_rules)
    number = folder.config.run.elo_simulations if simulations is None else simulations
    console = screen()
    with console.status("playing") if console.is_terminal else nullcontext():
        found = rate_history(
            folder,
            points=points,
            games=games,
            simulations=number,
            devices=devices,
            workers=workers,
            on_note=print_note,
            cluster=cluster,
        )
    if as_json:
        print(json.dumps(_plain_history(str(path), found)))
        return
    console.print(f"{folder.game.name} in {path}, {number} simulations per move", style="bold")
    console.print(history_table(found))
    console.print(anchor_line(found))


def _plain_history(run: str, history: "EloHistory") -> dict[str, Any]:
    """Return the fields of a JSON object."""
    rows = [
        {"iteration": iteration, **asdict(rating), "games": history.games(iteration)}
        for iteration, rating in history.ratings().items()
    ]
    return {
        "run": run,
        "simulations": history.simulations,
        "anchors": dict(history.anchors),
        "history": rows,
    }


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
