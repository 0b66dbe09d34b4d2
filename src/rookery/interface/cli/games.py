"""`rookery games`: which there are, whether one keeps the contract, and games of a run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rookery.interface.cli.settings import TrustRules, check_new_files

if TYPE_CHECKING:
    from rich.table import Table

    from rookery.games import CheckResult

games = typer.Typer(name="games", help="List the games; check one; export what a run played.")

FAILED = 1


@games.callback(invoke_without_command=True)
def list_games(context: typer.Context) -> None:
    """List the games, or check one of them."""
    if context.invoked_subcommand is None:
        from rookery.interface.formatting import screen

        screen().print(_table())


@games.command("check")
def check(
    name: Annotated[str, typer.Argument(help="A game, or the path of a rules file.")],
) -> None:
    """Check that a game keeps the contract; exit code 1 if it does not."""
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
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    pgn: Annotated[Path, typer.Option(help="The file to write.")],
    count: Annotated[int, typer.Option("--games", min=1, help="The newest games, so many.")] = 100,
    trust_rules: TrustRules = False,
) -> None:
    """Write games of a run's self-play, as far as it keeps them, as PGN; for chess."""
    from rookery.interface.formatting import screen
    from rookery.interface.game_files import require_notation, run_sheets, write_sheets
    from rookery.training import RunFolder

    check_new_files(pgn)
    folder = RunFolder(run, trust_rules=trust_rules)
    require_notation(folder.game)
    sheets = run_sheets(folder, count)
    write_sheets(folder.game, sheets, pgn)
    screen().print(f"{len(sheets)} games in {pgn}", soft_wrap=True, markup=False)


def _verdict(finding: "CheckResult") -> tuple[str, str]:
    if not finding.passed:
        return "FAILED", "bold red"
    return ("look  ", "yellow") if finding.is_warning else ("ok    ", "green")


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
