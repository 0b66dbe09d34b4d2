"""`rookery games`: list the games, check one, or export the games of a run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rookery.interface.cli.settings import TrustRules, check_new_files

if TYPE_CHECKING:
    from rich.table import Table

    from rookery.games import CheckResult

games = typer.Typer(name="games", help="List the games, check one, or export games of self-play.")

FAILED = 1


@games.callback(invoke_without_command=True)
def list_games(context: typer.Context) -> None:
    """List the games, or check one of them."""
    if context.invoked_subcommand is None:
        from rookery.interface.formatting import screen

        screen().print(_table())


@games.command("check")
def check(
    name: Annotated[str, typer.Argument(help="Check this game, or this rules file.")],
) -> None:
    """Check that a game satisfies the contract; exit with code 1 if not."""
    from rookery.games import check_game
    from rookery.games import load_game as find_game
    from rookery.interface.formatting import screen

    console = screen()
    findings = check_game(find_game(name))
    width = max(len(finding.name) for finding in findings)
    for finding in findings:
        word, style = _verdict(finding)
        console.print(word, style=style, end="  ")
        line = f"{finding.name:{width}}  {finding.message}"
        console.print(line, markup=False, soft_wrap=True)
    if not all(finding.passed for finding in findings):
        raise typer.Exit(FAILED)


@games.command("export")
def export(
    run: Annotated[Path, typer.Argument(help="Export games of this run folder.")],
    pgn: Annotated[Path, typer.Option(help="Write this file.")],
    count: Annotated[
        int, typer.Option("--games", min=1, help="Export up to N of the newest games.")
    ] = 100,
    trust_rules: TrustRules = False,
) -> None:
    """Write the newest self-play games of a run as PGN; for chess."""
    from rookery.interface.formatting import screen
    from rookery.interface.game_files import require_notation, selfplay_games, write_games
    from rookery.training import RunFolder

    check_new_files(pgn)
    folder = RunFolder(run, trust_rules=trust_rules)
    require_notation(folder.game)
    found = selfplay_games(folder, count)
    write_games(folder.game, found, pgn)
    screen().print(f"{len(found)} games in {pgn}", soft_wrap=True, markup=False)


def _verdict(finding: "CheckResult") -> tuple[str, str]:
    if not finding.passed:
        return "FAILED", "bold red"
    return ("check ", "yellow") if finding.is_warning else ("ok    ", "green")


def _table() -> "Table":
    from rookery.games import game_names, load_game
    from rookery.interface.formatting import new_table
    from rookery.training import RECIPES

    table = new_table("game", "planes", "actions", "longest game", "recipes")
    for name in game_names():
        rules = load_game(name)
        planes = " x ".join(map(str, rules.planes_shape))
        recipes = ", ".join(recipe for recipe, make in RECIPES.items() if make().game == name)
        table.add_row(name, planes, str(rules.num_actions), f"{rules.max_plies} plies", recipes)
    return table
