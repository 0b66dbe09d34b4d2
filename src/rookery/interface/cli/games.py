"""`rookery games` and `rookery recipes`: list, check and start games, or export those of a run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rookery.interface.cli.completion import complete_game, complete_recipe, complete_run
from rookery.interface.cli.help import PlainCommand, PlainGroup, examples
from rookery.interface.cli.settings import TrustRules, check_new_files, whole

if TYPE_CHECKING:
    from rookery.games import CheckResult

games = typer.Typer(
    name="games",
    cls=PlainGroup,
    epilog=examples("games"),
    help="List the games, check or start one, or export games of self-play.",
)

FAILED = 1


@games.callback(invoke_without_command=True)
def list_games(context: typer.Context) -> None:
    """List the games, or check one of them."""
    from rich.columns import Columns

    from rookery.games import game_names, load_game
    from rookery.interface.board_text import picture
    from rookery.interface.formatting import new_table, screen
    from rookery.training import RECIPES

    if context.invoked_subcommand is not None:
        return
    table = new_table("game", "planes", "actions", "longest game", "recipes")
    for name in game_names():
        rules = load_game(name)
        planes = " x ".join(map(str, rules.planes_shape))
        made = ", ".join(recipe for recipe, make in RECIPES.items() if make().game == name)
        table.add_row(name, planes, str(rules.num_actions), f"{rules.max_plies} plies", made)
    console = screen()
    console.print(table)
    console.print()
    console.print(Columns(map(picture, map(load_game, game_names())), padding=(1, 4, 0, 0)))


@games.command("check", cls=PlainCommand, epilog=examples("games check"))
def check(
    name: Annotated[
        str,
        typer.Argument(
            metavar="GAME|FILE",
            autocompletion=complete_game,
            help="Check this game, or this rules file.",
        ),
    ],
) -> None:
    """Check that a game satisfies the contract; exit with code 1 if not."""
    from rookery.games import check_game, load_game
    from rookery.interface.formatting import screen

    console = screen()
    findings = check_game(load_game(name))
    width = max(len(finding.name) for finding in findings)
    for finding in findings:
        word, style = _verdict(finding)
        console.print(word, style=style, end="  ")
        line = f"{finding.name:{width}}  {finding.message}"
        console.print(line, markup=False, soft_wrap=True)
    if not all(finding.passed for finding in findings):
        raise typer.Exit(FAILED)


@games.command("new", cls=PlainCommand, epilog=examples("games new"))
def new(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Name the game and its rules file, as in gomoku.")
    ],
) -> None:
    """Write NAME.py, a small game to start from, and test_NAME.py into this folder."""
    from rookery.interface.formatting import program, screen
    from rookery.interface.new_game import check_new_name, write_skeleton

    check_new_name(name)
    rules, tests = Path(f"{name}.py"), Path(f"test_{name}.py")
    check_new_files(rules, tests)
    write_skeleton(name, rules, tests)
    screen().print(
        f"{rules} has the rules of a small game to start from, {tests} its tests; next: "
        f"{program()} games check {rules}",
        soft_wrap=True,
        markup=False,
    )


@games.command("export", cls=PlainCommand, epilog=examples("games export"))
def export(
    run: Annotated[
        Path,
        typer.Argument(
            metavar="RUN", autocompletion=complete_run, help="Export games of this run folder."
        ),
    ],
    pgn: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write PGN to this file; for chess.")
    ] = None,
    jsonl: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write one JSON object per line to this file; for any game."
        ),
    ] = None,
    count: Annotated[
        int,
        typer.Option(
            "--games",
            parser=whole(1, "MAX_GAMES"),
            metavar="N",
            help="Export up to N of the newest games.",
        ),
    ] = 100,
    trust_rules: TrustRules = False,
) -> None:
    """Write the newest self-play games of a run, as PGN or as JSON."""
    from rookery.base import ConfigError
    from rookery.interface.formatting import screen
    from rookery.interface.game_files import (
        require_notation,
        selfplay_games,
        to_record,
        write_games,
        write_selfplay,
    )
    from rookery.training import RunFolder

    if pgn is None and jsonl is None:
        raise ConfigError("no file to write; give --jsonl FILE, or --pgn FILE for chess")
    check_new_files(pgn, jsonl)
    folder = RunFolder(run, trust_rules=trust_rules)
    if pgn is not None:
        require_notation(folder.game)
    found = selfplay_games(folder, count)
    if pgn is not None:
        write_games(folder.game, (to_record(folder, *each) for each in found), pgn)
    if jsonl is not None:
        write_selfplay(folder.game, (played for _, played in found), jsonl)
    names = " and ".join(str(path) for path in (pgn, jsonl) if path is not None)
    screen().print(f"{len(found)} games in {names}", soft_wrap=True, markup=False)


def recipes(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="RECIPE",
            autocompletion=complete_recipe,
            help="Show all settings of this recipe.",
        ),
    ] = None,
) -> None:
    """List the recipes, or show all settings of one."""
    from rookery.base import UnknownName
    from rookery.interface.formatting import new_table, screen
    from rookery.training import RECIPES, to_json

    if name is not None:
        if name not in RECIPES:
            raise UnknownName("recipe", name, RECIPES)
        print(to_json(RECIPES[name]()), end="")
        return
    table = new_table("recipe", "game", "network", "description")
    for recipe, make in RECIPES.items():
        config = make()
        table.add_row(recipe, config.game, str(config.net), make.__doc__ or "")
    screen().print(table)


def _verdict(finding: "CheckResult") -> tuple[str, str]:
    if not finding.passed:
        return "FAILED", "bold red"
    return ("check ", "yellow") if finding.is_warning else ("ok    ", "green")
