"""`rookery plot`: the curves of runs as a picture."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, get_args

import typer

from rookery.interface.cli.settings import check_new_files, print_note

if TYPE_CHECKING:
    from rookery.interface.plot import What

FORMS = (".png", ".svg")


def plot(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Plot the runs in these folders.")
    ],
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="Write this file: NAME.png or NAME.svg.")
    ],
    axis: Annotated[
        Literal["time", "iterations", "games"],
        typer.Option("--x", help="Draw the curves over this."),
    ] = "time",
    what: Annotated[
        str,
        typer.Option(
            "--what",
            metavar="LIST",
            help="Draw some of strength,elo,loss,speed; by default all that the runs have.",
        ),
    ] = "",
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
) -> None:
    """Write strength, Elo, loss and speed of one or several runs to a picture."""
    from rookery.base import ConfigError, write_atomic
    from rookery.interface.formatting import screen
    from rookery.interface.plot import choose, draw, import_matplotlib, read_all

    if out.suffix not in FORMS:
        raise ConfigError(f"{out} must end in {' or '.join(FORMS)}, which selects the format")
    if not (force and out.is_file()):
        check_new_files(out)
    wanted = _read_panels(what)
    import_matplotlib()
    found = read_all(list(dict.fromkeys(runs)))
    panels = choose(found, wanted)
    for run in found:
        if not any(map(run.points.get, panels)):
            print_note(f"{run.name} has nothing to plot here yet")
    write_atomic(out, draw(found, panels, axis=axis, form=out.suffix[1:]))
    screen().print(f"Plotted {', '.join(panels)} in {out}", soft_wrap=True)


def _read_panels(text: str) -> list["What"]:
    from rookery.base import UnknownName
    from rookery.interface.plot import What

    known = get_args(What)
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in known:
            raise UnknownName("curve", name, known)
    return [name for name in known if name in names]
