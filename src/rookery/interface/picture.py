"""`rk.plot` and `rookery plot`: the curves of runs as a picture.

What draws them is imported when it is called: this file is read by every command.
"""

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from rookery.api import Run
    from rookery.interface.curves import Curves, What

FORMS = (".png", ".svg")
Axis = Literal["time", "iterations", "games"]


def plot(
    runs: "Run | str | Path | Sequence[Run | str | Path]",
    file: str | Path,
    *,
    x: Axis = "time",
    what: str | Sequence[str] = (),
    force: bool = False,
) -> Path:
    """Write strength, Elo, loss and speed of one or several runs to a picture; return its path.

    `runs` are runs or their folders; `file` is NAME.png or NAME.svg, which is overwritten only with
    `force`. `what` chooses some of strength, elo, loss and speed, by default all that the runs
    have. Needs the extra `plot`.
    """
    given = runs if isinstance(runs, Sequence) and not isinstance(runs, str) else [runs]
    folders = [Path(run) if isinstance(run, str | Path) else run.path for run in given]
    write_picture(folders, Path(file), axis=x, what=what, force=force)
    return Path(file)


def write_picture(
    runs: Sequence[Path], out: Path, *, axis: Axis, what: str | Sequence[str], force: bool
) -> tuple[list["Curves"], list["What"]]:
    """Write the curves of the runs in these folders, and return them and the panels drawn."""
    from rookery.base import ConfigError, check_new_files, write_atomic
    from rookery.interface.curves import PANELS, choose, draw, import_matplotlib, read_all

    if out.suffix not in FORMS:
        raise ConfigError(f"{out} must end in {' or '.join(FORMS)}, which selects the format")
    if not (force and out.is_file()):
        check_new_files(out)
    if not runs:
        raise ConfigError("there are no runs to plot; give a run or its folder")
    wanted = _known("curve", what.split(",") if isinstance(what, str) else what, PANELS)
    _known("x", [axis], get_args(Axis))
    import_matplotlib()
    found = read_all(list(dict.fromkeys(runs)))
    panels = choose(found, [panel for panel in PANELS if panel in wanted])
    write_atomic(out, draw(found, panels, axis=axis, form=out.suffix[1:]))
    return found, panels


def _known(kind: str, names: Iterable[str], known: Collection[str]) -> list[str]:
    """Return the names without spaces, or raise UnknownName."""
    from rookery.base import UnknownName

    given = [name.strip() for name in names if name.strip()]
    for name in given:
        if name not in known:
            raise UnknownName(kind, name, known)
    return given
